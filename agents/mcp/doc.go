// Package mcp uses the tools of servers of the Model Context Protocol.
//
//	s := mcp.Open(mcp.Config{Name: "files", Command: []string{"npx", "…"}, Pins: dir, …})
//	defer s.Close()
//	s.Start()
//	tools := s.Tools()
//
// A server is a program that speaks over its standard input and output, in the sandbox or beside it, or an
// address that speaks streamable HTTP. Its tools become tools of the runtime under names of their own,
// mcp_<server>_<tool>, so that every call of them passes the gate.
//
// # Guarantees
//
// What a server says is untrusted. Its tools are used only as an administrator has approved them: name,
// description and schema are pinned, and a tool that is new, or not any more what was approved, is neither
// shown to a model nor called until [Server.Approve]. A text that reads like an injection cannot be
// approved at all. Messages, lists and results have bounds; a server that sends more, or floods, is left.
//
// A server that does not work fails its own calls and nothing else. It is tried again, at first after a
// second and then less and less often, at least every five minutes. Its approved tools stay known
// meanwhile. Nothing waits for a server but its calls, and they have a deadline.
//
// A program gets a fixed environment and the variables that are named. A key is sent to the server's own
// host only.
//
// # Concurrency
//
// A Server is safe for concurrent use. Close waits until nothing of it is left.
package mcp
