// Package memory is what agents know from earlier conversations with a user.
//
// A [Keeper] is an [agents.Memory]: before an agent begins, it puts the few memories that fit the task best
// behind the system prompt, and after the agent's answer it writes down what is worth knowing later. It also
// shows people what is known of them, and forgets it:
//
//	keeper := memory.New(memory.Config{Store: store, Audit: log, Queue: queue, Scan: scan, …})
//	recalled, err := keeper.Recall(ctx, invocation)
//	keeper.Capture(invocation, completed)
//	list, err := keeper.List(ctx, principal, memory.Filter{Limit: 50})
//	n, err := keeper.Clear(ctx, principal, "")
//
// # Trust
//
// A memory has the labels of what it was made from. What a user said in so many words has the label user, and
// all agents of that user know it. Whether it was said is seen in the user's own messages; no model is asked.
// Everything else has the labels of the whole conversation. It stays with the agent that learned it, each time
// the model is told where it comes from, and in the labels of a run it counts like any text of that source. So
// a memory can tighten what the policy decides and never loosen it.
//
// # Guarantees
//
// What belongs to one user is never recalled or counted for another; admins may see it in lists. A run in somebody
// else's thread, or in somebody's name, is told of nothing and captures nothing. A text is cleaned, redacted and
// scanned before it is written, and scanned again before it is recalled; one that reads like an injection is
// refused and put on record. What a user has is bounded in entries and bytes: what was of no use for the
// longest time goes first, and what the user said goes after everything else. Forgetting takes the text out of
// the storage's files, not only out of its lists.
//
// # Concurrency
//
// A Keeper and a [Queue] are safe for concurrent use. Capture never waits: its work is done by the queue, for
// each user in order.
package memory
