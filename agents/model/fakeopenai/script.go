package fakeopenai

import (
	"time"

	"github.com/svc-gateway/svc/agents/model/fake"
)

// Script decides what a request is answered.
type Script = fake.Script[Request, Turn]

// Sequence answers with the turns in order; the last one repeats.
func Sequence(turns ...Turn) Script { return fake.Sequence[Request](turns...) }

// Always gives every request the same answer: with calls in it, a model that calls
// tools for ever.
func Always(t Turn) Script { return Sequence(t) }

// Call is a tool call of an answer. Name need not be a tool that exists, Arguments
// need not be JSON.
type Call struct {
	ID        string // default call_<request>_<index>
	Name      string
	Arguments string
}

// Turn is one scripted answer. The zero value is an empty answer.
type Turn struct {
	// Text are the pieces of the answer's text, one chunk each.
	Text []string
	// Calls are the tool calls.
	Calls []Call
	// Finish is the finish reason; default stop, or tool_calls when there are some.
	Finish string

	// RepeatIndex gives every call index 0 and sends each in one chunk (Ollama).
	RepeatIndex bool
	// OneChunk sends each call whole in one chunk, with its own index.
	OneChunk bool
	// NoIDs leaves the ids of calls empty.
	NoIDs bool
	// RepeatNames sends id and name with every fragment of the arguments.
	RepeatNames bool
	// ObjectArguments sends arguments as a JSON object instead of a string.
	ObjectArguments bool
	// NoUsage reports no usage although it was asked for.
	NoUsage bool
	// NoFinish never gives a finish reason.
	NoFinish bool
	// NoDone ends the stream without data: [DONE].
	NoDone bool
	// Whole ignores "stream": true and answers with one JSON document.
	Whole bool

	// Status answers with an HTTP error, with RetryAfter as its header, and with
	// Body instead of the protocol's error document when set.
	Status     int
	RetryAfter string
	Body       string
	// Drop closes the connection without an answer.
	Drop bool

	// Fault is what happens after After chunks of a stream.
	Fault Fault
	After int
	// Raw is what the fault Garbage writes.
	Raw string
	// Delay is waited before each chunk: slow tokens.
	Delay time.Duration
	// Hold, when set, must give a value (or be closed) before each chunk: slow
	// tokens under a test's control.
	Hold <-chan struct{}
}

// Fault is how a stream goes wrong.
type Fault int

// The faults of a stream.
const (
	NoFault Fault = iota
	Cut           // the connection breaks
	End           // the stream ends cleanly, but too early
	Stall         // nothing more comes until the client leaves
	Garbage       // Turn.Raw is written instead of the rest
	Report        // the server reports an error inside the stream (vLLM)
)

func (t Turn) finish() string {
	switch {
	case t.Finish != "":
		return t.Finish
	case len(t.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}
