package fakeanthropic

import (
	"encoding/json"

	"github.com/svc-gateway/svc/agents/model/fake"
)

// Script decides what a request is answered.
type Script = fake.Script[Request, Turn]

// Sequence answers with the turns in order; the last one repeats.
func Sequence(turns ...Turn) Script { return fake.Sequence[Request](turns...) }

// Always gives every request the same answer.
func Always(t Turn) Script { return Sequence(t) }

// Call is a tool call of an answer. Name need not be a tool that exists, Input need not be JSON.
type Call struct {
	ID    string // default toolu_<request>_<index>
	Name  string
	Input string
}

// Turn is one scripted answer: thoughts, then a redacted thought, the text, and the calls. The zero value is an
// empty answer.
type Turn struct {
	Thinking string
	Redacted bool
	Text     []string // pieces of one block
	Calls    []Call
	Stop     string // default end_turn, or tool_use when there are calls

	// CacheRead and CacheWritten are reported as the tokens that were kept.
	CacheRead, CacheWritten int
	// Whole ignores "stream": true and answers with one JSON document.
	Whole bool
	// Events are written as they are instead of all that the fields above say.
	Events []json.RawMessage

	// Status answers with an HTTP error of that type of the protocol, with RetryAfter as its header, and with
	// Body instead of the protocol's error document when set.
	Status     int
	Message    string
	RetryAfter string
	Location   string
	Body       string
	// Drop closes the connection without an answer.
	Drop bool

	// Fault is what happens after After events of a stream.
	Fault Fault
	After int
}

// Fault is how a stream goes wrong.
type Fault int

// The faults of a stream.
const (
	NoFault  Fault = iota
	Cut            // the connection breaks
	End            // the stream ends cleanly, but too early
	Stall          // nothing more comes until the client leaves
	Garbage        // an event that is no JSON
	Overload       // the server reports that it is overloaded
)

func (t Turn) stop() string {
	switch {
	case t.Stop != "":
		return t.Stop
	case len(t.Calls) > 0:
		return "tool_use"
	}
	return "end_turn"
}
