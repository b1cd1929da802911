package model

// What a system prompt says of tasks of remote agents that are over or wait, around their names.
const (
	RemoteNews    = "News of remote tasks: "
	RemoteNewsEnd = " check_remote tells what came of each. Tell the user."
)
