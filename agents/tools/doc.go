// Package tools holds the tools that the agents of this service come with:
//
//   - [RunCommand]: run a command line: directly, in a sandbox, or on the host once approved.
//   - [RunCode]: run a program in a sandbox with a workspace of its own.
//   - [HTTPGet]: get a document from a listed server.
//   - [HTTPRequest]: make a request to a listed server; a write once a person has approved it.
//   - [Writer]: write a text file, or change a place in one, so that it can be undone.
//   - [ReadFile]: read a text file inside the project root.
//   - [QueryAudit]: ask the audit log with SQL about one's own actions.
//
// Each constructor returns an [agents.Tool], whose body only the gate can call.
//
// # Guarantees
//
// A command line that is no harmless one of a fixed list runs in a [Sandbox], or on the host when a
// person has approved it; generated programs run in a sandbox only. Of the service's own hands, nothing
// outside the project root is opened, whatever links
// the root contains or gets while a tool runs: files are opened through [os.Root]
// and handed to commands as open descriptors, never as a path to be looked up
// again. The service's data folder stays closed when the root contains it, and so do
// its files where hard links in the root lead to them. The text of a file is redacted
// from its beginning on, whichever part of it is asked for. Output is bounded in
// memory, valid UTF-8 and free of terminal control characters. A command is killed with
// its whole process group when its context ends.
//
// Errors are written for the model that reads them: they name what was refused and
// what is allowed.
//
// # Concurrency
//
// Tools are safe for concurrent use and keep nothing between calls.
package tools
