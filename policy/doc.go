// Package policy decides who may do what.
//
// A decision has two parts. The permission table says which role may perform which action
// with which agent and skill; it is fixed in the program ([Permitted], [Role.May]). Rules
// look at the single call (its tool, the command it would run, the categories the scanner
// found) and can only tighten what the table allows: deny it, ask for an approval, or log it.
//
//	engine, err := policy.New()
//	d := engine.Decide(policy.Input{
//		Principal: principal, Agent: "core", Tool: "run_command",
//		Action: policy.Mutate, Command: &command,
//	})
//	if d.Effect == policy.Deny { … d.Reasons … }
//
// Everything denies by default: a nil [Engine], an unknown role or action, a missing agent or
// tool name, a rule that cannot be evaluated. Each [Decision] says which criterion led to it
// and carries the hash of the table and rules it was made with.
//
// [Principal] is who acts; [WithPrincipal] and [PrincipalFrom] carry it in a context. An
// Engine is immutable: Decide does no I/O, does not look at the clock, gives equal answers
// for equal inputs and is safe for concurrent use.
package policy
