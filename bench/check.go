package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// checker holds a response's body against what it has to be.
type checker interface {
	begin()
	see(b []byte) error // the next piece
	begun() bool        // the first event is complete
	end() error
}

var errBody = errors.New("a response is not what it has to be")

// exactly wants these bytes.
type exactly struct {
	want  []byte
	first int // bytes until the first event is complete
	seen  int
}

func (e *exactly) begin()      { e.seen = 0 }
func (e *exactly) begun() bool { return e.seen >= e.first }

func (e *exactly) see(b []byte) error {
	if !bytes.HasPrefix(e.want[e.seen:], b) {
		return fmt.Errorf("%w: after %d bytes: got %.120q, want %.120q", errBody, e.seen, b, e.want[e.seen:])
	}
	e.seen += len(b)
	return nil
}

func (e *exactly) end() error {
	if e.seen != len(e.want) {
		return fmt.Errorf("%w: it ends after %d bytes of %d", errBody, e.seen, len(e.want))
	}
	return nil
}

// answered wants the stream of an agent run that succeeded: its tool calls, pieces of an answer
// with a certain word in it, and done at the end.
type answered struct {
	word  string
	tools int // calls that must be shown

	line  []byte // an unfinished one
	lines int
	calls int
	found bool
	done  bool
}

func (a *answered) begin() {
	*a = answered{word: a.word, tools: a.tools, line: a.line[:0]}
}

func (a *answered) begun() bool { return a.lines > 0 }

func (a *answered) see(b []byte) error {
	for {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			a.line = append(a.line, b...)
			return nil
		}
		line := b[:i]
		if len(a.line) > 0 {
			a.line = append(a.line, line...)
			line = a.line
		}
		b = b[i+1:]
		if err := a.event(line); err != nil {
			return err
		}
		a.line = a.line[:0]
	}
}

var (
	isDone  = []byte(`data: {"type":"done"`)
	isChunk = []byte(`data: {"type":"message_chunk"`)
	isTool  = []byte(`data: {"type":"tool_use"`)
	denied  = []byte(`"status":"denied"`)
)

// event sees a line of the stream.
func (a *answered) event(line []byte) error {
	if len(line) == 0 {
		return nil
	}
	if a.done {
		return fmt.Errorf("%w: %.120q after done", errBody, line)
	}
	a.lines++
	switch {
	case bytes.HasPrefix(line, isChunk):
		a.found = a.found || bytes.Contains(line, []byte(a.word))
	case bytes.HasPrefix(line, isTool) && !bytes.Contains(line, denied):
		a.calls++
	case bytes.HasPrefix(line, isDone):
		a.done = true
	default:
		return fmt.Errorf("%w: unexpected event %.400q", errBody, line)
	}
	return nil
}

func (a *answered) end() error {
	switch {
	case !a.done:
		return fmt.Errorf("%w: the stream ends without done", errBody)
	case !a.found:
		return fmt.Errorf("%w: no piece of the answer has the word %q", errBody, a.word)
	case a.calls != a.tools:
		return fmt.Errorf("%w: it shows %d tool calls, want %d", errBody, a.calls, a.tools)
	}
	return nil
}

// holding wants a JSON document that has a certain word in it.
type holding struct {
	word string
	body []byte
}

func (h *holding) begin()             { h.body = h.body[:0] }
func (h *holding) begun() bool        { return len(h.body) > 0 }
func (h *holding) see(b []byte) error { h.body = append(h.body, b...); return nil }

func (h *holding) end() error {
	if !json.Valid(h.body) || !bytes.Contains(h.body, []byte(h.word)) {
		return fmt.Errorf("%w: got %.200q, want a document with %s", errBody, h.body, h.word)
	}
	return nil
}

// protocolStream wants the stream of a run of the agent server protocol that succeeded: metadata first, then
// the pieces of an answer and the values with it.
type protocolStream struct{ body []byte }

func (p *protocolStream) begin()             { p.body = p.body[:0] }
func (p *protocolStream) begun() bool        { return bytes.Contains(p.body, []byte("\n\n")) }
func (p *protocolStream) see(b []byte) error { p.body = append(p.body, b...); return nil }

func (p *protocolStream) end() error {
	first, rest, _ := bytes.Cut(p.body, []byte("\n"))
	switch {
	case !bytes.Equal(bytes.TrimSpace(first), []byte("event: metadata")):
		return fmt.Errorf("%w: the stream begins with %.200q, want metadata", errBody, first)
	case bytes.Contains(rest, []byte("event: error")):
		return fmt.Errorf("%w: the run failed: %.600q", errBody, rest)
	case !bytes.Contains(rest, []byte("event: values")) || !bytes.Contains(rest, []byte("event: messages")) || !bytes.Contains(rest, []byte(`"ai"`)):
		return fmt.Errorf("%w: the stream has no answer: %.600q", errBody, rest)
	}
	return nil
}
