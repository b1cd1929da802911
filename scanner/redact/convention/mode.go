package convention

import "strings"

// Mode says what the strings of an event are.
type Mode uint8

// The modes.
const (
	Pieces  Mode = iota // of texts that go on from event to event
	Wholes              // texts of their own
	Growing             // as much of a text as there is: the next event has it again, and more
	Grown               // all of such a text
)

// ModeOf returns the mode of the events of a name: those with the state of an agent graph
// hold all texts as they are by then.
func ModeOf(name string) Mode {
	name, _, _ = strings.Cut(name, "|")
	switch name {
	case "messages/partial":
		return Growing
	case "messages/complete":
		return Grown
	case "values", "updates", "checkpoints", "debug", "tasks", "messages/metadata", "lifecycle", "input.requested", "input.answered":
		return Wholes
	}
	return Pieces
}
