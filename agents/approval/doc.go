// Package approval lets people decide on calls that the policy does not let through by itself.
//
// A [Desk] is the [agents.Holds] of the runtime. When the gate asks for leave, the desk keeps an
// [Approval] and the run waits. People list, read and decide; the desk wakes the run, and the gate asks
// again:
//
//	desk := approval.Open(approval.DeskConfig{Store: store, Runs: host, …})
//	release := desk.Serve(approval.Config{TTL: 15 * time.Minute})
//	err := desk.Decide(ctx, principal, id, approval.Verdict{Decision: approval.Approve})
//
// An approval is for one call, by its digest: the SHA-256 of the RFC 8785 form of {agent, arguments,
// run, tool}. Its states:
//
//	pending ─► approved | edited | rejected | expired ─► consumed
//	    └────────────┴─► cancelled (the run has ended)
//
// # Guarantees
//
// An approval is used at most once, whatever is decided, woken, crashed or repeated at the same time:
// every change is compare-and-swap, and its use is durable before the call starts. Who decides is
// resolved anew and must have the permission approve-write. What people decide is in the audit log
// before it counts, and what does not count is recorded too. A decision that nobody was woken for is found
// when the service starts, and from time to time.
//
// # Concurrency
//
// A Desk is safe for concurrent use, and so are several of them, in several processes, on one store.
package approval
