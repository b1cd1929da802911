// Package hook runs the operator's commands when something happens: a session starts or ends, a
// tool call ends, a person's approval is needed or given.
//
// The commands stand in a file, hooks.json in the data folder:
//
//	{"hooks": [{"event": "tool.call", "command": "logger -t svc \"$SVC_HOOK_TOOL: $SVC_HOOK_STATUS\""}]}
//
// [Open] reads it and gives [Hooks]. The runtime fires the events with the methods that are named
// after them; custom code, such as the body of a tool, calls [Fire] with its context:
//
//	err := hook.Fire(ctx, hook.SessionStart, "agent_id", "core", "user", "ada")
//
// Firing never waits. An event goes into a queue of bounded length, and an event that does not fit is
// counted and reported in the log. A few commands run side by side, begun in the order of their events.
//
// A command is run by /bin/sh in a process group of its own, in the folder of the file, without input.
// Its environment is PATH, HOME and the variables of the event, and nothing else. What comes from
// models and users reaches it as values of variables only, never as words of the command. After 30
// seconds the command is killed with all that it has started. A failure is a WARNING in the log, with
// the beginning of what the command printed.
//
// The file is looked at before each event. One that others could have written is refused as a whole,
// and no hook runs. One that is not valid JSON changes nothing: it may be half written. Of one with
// bad entries the good ones count.
//
// All functions and methods are safe for concurrent use. A nil *Hooks has no hooks.
package hook
