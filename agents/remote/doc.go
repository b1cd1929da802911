// Package remote has agents hand tasks to agents of other services, which speak the graph-based agent server
// protocol, and go on without waiting for them.
//
// A [Tasks] keeps what was handed over. It gives the runtime the tools to start, check, update, answer, cancel
// and list tasks, and tells the model when one of a thread has news:
//
//	tasks := remote.Open(remote.Config{Store: store, …})
//	setup.Tools = append(setup.Tools, tasks.Tools(remotes, may)...)
//	setup.Model = tasks.News(setup.Model)
//	release := tasks.Serve(remotes, secrets)
//
// A task outlives its run, its connection and the process: it is in the store before anything is sent, and a
// goroutine follows it to its end, joining the remote's stream again where it broke. A remote that is not there
// when the service starts is skipped with a warning, and tried again.
//
// # When a remote asks for leave
//
// What a remote waits for is shown to people as the arguments of the call answer_remote, whatever the model
// wrote there. The category remote_interrupt has the built-in rule hitl-remote ask for approval, and the digest
// of the approval covers what the remote asks for. Before the answer is sent, the remote is asked once more: when
// it wants anything else by now, nothing is sent. A no needs no leave.
//
// # Guarantees
//
// A remote's words are bounded, redacted, labelled remote:<name> and scanned by the gate. What it says of labels
// is not read. A user has their own tasks and no others, an agent the remotes that it names. Nothing is sent to
// a remote twice by itself; a task whose start is unclear is looked for at the remote, never repeated.
//
// # Concurrency
//
// A Tasks is safe for concurrent use, and so are several, in several processes, on one store: every change is
// compare-and-swap on the version of a task.
package remote
