// Package agents is the runtime: it turns a user's message into a run of agents that think
// with a model and act through tools.
//
// A [Run] is plain data, and what happens next is a pure function of it, so that starting,
// resuming and recovering are one path. Every tool call passes the gate, the only code that
// can run a tool: it analyses, decides, records the intent durably, resolves the principal
// anew, runs the tool under a deadline, scans and redacts the result and records the outcome.
// What a run does is appended to its event log, already redacted; any number of readers
// follow that log without slowing the run or each other.
//
// [Open] gives a [Host], which owns the active runs and closes what a dead process left;
// [Host.Runtime] gives a [Runtime], which starts runs with one setup of model, tools and
// policy. Start a run, Follow its events, Cancel it. Hosts and runtimes are safe for concurrent
// use; a Run value is owned by the goroutine that drives it.
package agents
