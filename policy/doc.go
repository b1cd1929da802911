// Package policy decides who may do what.
//
// A decision has two parts. The permission table says which role may perform which action
// with which agent and skill; it is fixed in the program ([Permitted], [Role.May]). Rules
// look at the single call (its tool, the command it would run, the categories the scanner
// found, the time) and can only tighten what the table allows: deny it, ask for an approval, or
// log it. Some rules are part of the program ([Builtin]), others are in files of the operator.
//
//	engine, err := policy.New(files...)
//	d := engine.Decide(policy.Input{
//		Principal: principal, Agent: "core", Tool: "run_command",
//		Action: policy.Mutate, Command: &command, Time: time.Now(),
//	})
//	if d.Effect == policy.Deny { … d.Reasons … }
//
// Everything denies by default: a nil [Engine], an unknown role or action, a missing agent or
// tool name, a rule that cannot be evaluated. Each [Decision] says which criterion led to it
// and carries the hash of the table and rules it was made with. [Engine.Explain] tells what each
// rule makes of a call; [Snap] keeps what a decision depended on, so that it can be made again.
//
// [Principal] is who acts; [WithPrincipal] and [PrincipalFrom] carry it in a context. An
// Engine is immutable: Decide does no I/O, does not look at the clock, does not count ([Counter]),
// gives equal answers for equal inputs and is safe for concurrent use. A [Live] is the policy of a
// service while it is replaced.
package policy
