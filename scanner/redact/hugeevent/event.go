// Package hugeevent redacts an event of a text/event-stream that is too large to be kept, as it comes.
//
//	e := hugeevent.New(json, text)
//	dst = e.Part(dst, piece)            // of a line
//	dst, ended = e.Line(dst, lineEnd)   // the line is complete
//
// # Guarantees
//
// The data of the event is one document or text; line ends within it are written where they come. Nothing is
// kept but what the two streams keep, and the beginning of a line.
//
// # Concurrency
//
// An event belongs to one goroutine at a time.
package hugeevent

import (
	"bytes"

	"github.com/svc-gateway/svc/scanner/sse"
)

// Stream redacts what comes in pieces.
type Stream interface {
	// Append appends to dst what can be written by now.
	Append(dst, src []byte) []byte
	// Close appends the rest.
	Close(dst []byte) []byte
}

// Event redacts one event.
type Event struct {
	data   Stream
	other  Stream // of a line that is not data
	head   []byte // the line as long as its field is not known
	kind   lineKind
	prefix []byte // of the lines of data
	buf    []byte
}

// New returns an event whose data one stream redacts, and whose other lines another does.
func New(data, other Stream) *Event { return &Event{data: data, other: other} }

type lineKind uint8

const (
	unknownLine lineKind = iota
	dataLine
	otherLine
)

// Begin takes the complete lines of the event.
func (e *Event) Begin(dst, event []byte) []byte {
	for len(event) > 0 {
		line, end, rest := sse.Line(event)
		event = rest
		dst = e.Part(dst, line)
		dst, _ = e.Line(dst, end)
	}
	return dst
}

// Part takes bytes of a line.
func (e *Event) Part(dst, p []byte) []byte {
	switch e.kind {
	case dataLine:
		e.buf = e.data.Append(e.buf[:0], p)
		return e.write(dst)
	case otherLine:
		return e.other.Append(dst, p)
	}
	e.head = append(e.head, p...)
	if len(e.head) < len("data: ") {
		return dst
	}
	return e.lineBegins(dst)
}

// lineBegins takes the beginning of a line, by which its field is known.
func (e *Event) lineBegins(dst []byte) []byte {
	head := e.head
	e.head = nil
	if e.kind = otherLine; sse.IsData(head) {
		e.kind = dataLine
		_, value := sse.Field(head)
		if e.prefix != nil {
			head = append([]byte("\n"), value...)
		} else {
			e.prefix = bytes.Clone(head[:len(head)-len(value)])
			head = value
		}
		dst = append(dst, e.prefix...)
	}
	return e.Part(dst, head)
}

// Line takes the end of a line and reports whether the event ends with it.
func (e *Event) Line(dst, end []byte) ([]byte, bool) {
	if e.kind == unknownLine {
		if len(e.head) == 0 {
			return append(e.Close(dst), end...), true
		}
		dst = e.lineBegins(dst)
	}
	if e.kind == otherLine {
		dst = e.other.Close(dst)
	}
	e.kind = unknownLine
	return append(dst, end...), false
}

// Close appends what the event still holds back, in a line of its own.
func (e *Event) Close(dst []byte) []byte {
	if len(e.head) > 0 {
		dst = e.lineBegins(dst)
	}
	inLine := e.kind == dataLine
	if e.kind == otherLine {
		dst = e.other.Close(dst)
	}
	e.buf = e.data.Close(e.buf[:0])
	if inLine {
		return e.write(dst)
	}
	if len(e.buf) > 0 {
		dst = append(e.write(append(dst, e.prefix...)), '\n')
	}
	return dst
}

// write appends buf without the line ends, which were written already.
func (e *Event) write(dst []byte) []byte {
	for piece := range bytes.SplitSeq(e.buf, []byte("\n")) {
		dst = append(dst, piece...)
	}
	return dst
}
