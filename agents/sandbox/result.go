package sandbox

import (
	"errors"
	"fmt"
)

// Result is how a program went. In JSON, it is what tools and commands answer with.
type Result struct {
	// Exit is the exit code, -1 when a signal ended the program.
	Exit int `json:"exit"`
	// Signal is the name of that signal, SIGSEGV for example.
	Signal string `json:"signal"`
	// TimedOut reports whether it was stopped because its time was over.
	TimedOut bool `json:"timed_out"`
	// Truncated reports whether Stdout or Stderr lacks something that was printed.
	Truncated bool `json:"truncated"`
	// OOM reports whether a process was ended because the sandbox had used up its memory.
	OOM bool `json:"oom"`
	// Stdout and Stderr are what was printed, as valid UTF-8 and without control characters that a
	// terminal would obey.
	Stdout string `json:"stdout"`
	Stderr string `json:"stderr"`
	// DurationMS is how long it took from the start of the sandbox to its end, in milliseconds.
	DurationMS int64 `json:"duration_ms"`
	// Files are those of the workspace at the end, if they were asked for. Left says what else is there.
	Files []File   `json:"files"`
	Left  []string `json:"left,omitempty"`
	// Where is where it ran: local, or the name of the provider of a remote sandbox.
	Where string `json:"where"`
	// Degraded lists what this host's sandbox lacks; docs/sandbox.md explains the words.
	Degraded []string `json:"degraded"`
}

// Local is where programs run in sandboxes of this host.
const Local = "local"

// Code is the stable code of an [Unavailable] error.
const Code = "sandbox_unavailable"

// Unavailable says why nothing can be run safely here.
type Unavailable struct{ Reason string }

func (u *Unavailable) Error() string { return Code + ": " + u.Reason }

// CommandError says that the program could not be started: it is not there, or not one.
type CommandError struct{ Reason string }

func (e *CommandError) Error() string { return e.Reason }

// IsUnavailable reports whether err says that nothing can be run here.
func IsUnavailable(err error) bool {
	u, ok := errors.AsType[*Unavailable](err)
	return ok && u != nil
}

var errReply = errors.New("the helper's answer cannot be read")

func replyf(format string, args ...any) error {
	return fmt.Errorf("%w: %w", errReply, fmt.Errorf(format, args...))
}
