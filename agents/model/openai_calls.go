package model

import (
	"crypto/rand"
	"strings"

	"github.com/openai/openai-go/v3"
)

const (
	maxCalls     = 64      // tool calls in one answer
	maxArguments = 1 << 20 // bytes of all arguments of one answer
)

// assembler puts tool calls together from the pieces of a stream. The protocol
// gives each call an index, its id and name in the first piece and fragments of the
// arguments in all. Servers differ: Ollama and Gemini's compatibility layer send
// whole calls that all have index 0, some with no id; others repeat id and name in
// every piece, or send the arguments as an object.
type assembler struct {
	calls []ToolCall
	open  map[int64]int   // index on the wire → the call that its pieces belong to
	tools map[string]bool // names that exist: one of them in full is no fragment
	taken map[string]bool // ids that the conversation has already
	bytes int
}

func newAssembler(req Request) *assembler {
	a := &assembler{open: map[int64]int{}, tools: map[string]bool{}, taken: map[string]bool{}}
	for _, t := range req.Tools {
		a.tools[t.Name] = true
	}
	for _, m := range req.Messages {
		for _, c := range m.ToolCalls {
			a.taken[c.ID] = true
		}
	}
	return a
}

// add takes one piece of a call.
func (a *assembler) add(index int64, id, name, arguments, rawArguments string) *Error {
	if arguments == "" && strings.HasPrefix(rawArguments, "{") {
		arguments = rawArguments
	}
	i, ok := a.open[index]
	if !ok || a.begins(a.calls[i], id, name) {
		i = len(a.calls)
		a.open[index] = i
		a.calls = append(a.calls, ToolCall{ID: id, Name: name})
		if len(a.calls) > maxCalls {
			return badResponse("it asked for more than %d tool calls at once", maxCalls)
		}
	} else {
		c := &a.calls[i]
		if c.ID == "" {
			c.ID = id
		}
		if name != c.Name {
			c.Name += name
		}
	}
	a.calls[i].Arguments += arguments
	if a.bytes += len(arguments) + len(name); a.bytes > maxArguments {
		return badResponse("the arguments of its tool calls are longer than %d bytes", maxArguments)
	}
	return nil
}

// begins reports whether a piece starts another call although its index is taken.
func (a *assembler) begins(current ToolCall, id, name string) bool {
	switch {
	case name == "":
		return false // a fragment of arguments, whatever its id
	case id != "" && current.ID != "" && id != current.ID:
		return true
	case id != "" && id == current.ID:
		return false // repeats itself in every piece
	}
	return isObject(current.Arguments) || current.Arguments == "" && name != current.Name && a.tools[name]
}

// addWhole takes the calls of an answer that was not streamed.
func (a *assembler) addWhole(calls []openai.ChatCompletionMessageToolCallUnion) *Error {
	for i, c := range calls {
		if err := a.add(int64(i), c.ID, c.Function.Name, c.Function.Arguments, c.Function.JSON.Arguments.Raw()); err != nil {
			return err
		}
	}
	return nil
}

// done returns the calls, each with an id of its own. Some servers write nothing
// for a call without arguments: that is the empty object.
func (a *assembler) done() []ToolCall {
	for i := range a.calls {
		c := &a.calls[i]
		if c.ID == "" || a.taken[c.ID] {
			c.ID = "call_" + rand.Text()
		}
		a.taken[c.ID] = true
		if strings.TrimSpace(c.Arguments) == "" {
			c.Arguments = "{}"
		}
	}
	return a.calls
}

// estimate counts about four bytes a token, which is near the truth for English
// and JSON and errs on the high side elsewhere.
func estimate(n int) int64 { return int64(n+3) / 4 }

// EstimateUsage counts what a turn cost when nobody else did, from the request and the bytes of the
// answer, which may have broken off.
func EstimateUsage(req Request, answer int) Usage {
	n := len(req.System)
	for _, m := range req.Messages {
		n += messageSize(m)
	}
	for _, t := range req.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Parameters)
	}
	u := Usage{PromptTokens: estimate(n), CompletionTokens: estimate(answer), Estimated: true}
	u.TotalTokens = u.PromptTokens + u.CompletionTokens
	return u
}

// tokens is a count of a server's, which may say anything.
func tokens(n int64) int64 { return min(max(n, 0), 1<<40) }

func messageSize(m Message) int {
	n := len(m.Content)
	for _, c := range m.ToolCalls {
		n += len(c.Name) + len(c.Arguments)
	}
	if m.Thinking != nil {
		for _, b := range m.Thinking.Blocks {
			n += len(b)
		}
	}
	return n
}
