// Package sandbox runs programs that nobody trusts.
//
//	box, err := sandbox.Open(ctx, sandbox.Config{Helper: path, Hidden: []string{home}})
//	defer box.Close()
//	result, err := box.Run(ctx, sandbox.Spec{Args: []string{"python3", "-c", code}})
//
// A [Box] knows how to start the helper svc-sandbox, which does the work with namespaces, Landlock,
// seccomp, resource limits and control groups; docs/sandbox.md describes what a program sees. [Open]
// tries out what this host allows and lets a program of the helper's own attempt to get out. If that
// succeeds, or nothing can be contained, it returns an [Unavailable] error, and nothing runs.
//
// Run returns a [Result] for every program that was started, also for one that was stopped; an error
// means that none ran to a known end. When Run has returned, no process of the program is left, and it
// returns soon after the timeout or the end of its context. What a sandbox on this host lacks
// stands in the Degraded field of every result.
//
// A Box is safe for concurrent use. It holds one process, the helper, until it is closed; should that
// process die, the programs that run die with it, and the next run starts another.
package sandbox
