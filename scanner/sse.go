package scanner

import (
	"bytes"
	"encoding/json"
)

// limits of an event stream.
const (
	maxEvent    = 1 << 20  // bytes of an event; a larger one is redacted on its own
	maxTemplate = 64 << 10 // bytes of an event that can be repeated for a rest
	maxRests    = 16       // fields that may hold a rest back
	maxFields   = 1024     // fields that are remembered from event to event
)

// SSERedactor redacts a text/event-stream whose events carry JSON or plain text. A secret is
// found also when it is split over events: each string field, told by the name of the event
// and its path in the JSON, is one text from event to event, and so is the data that is not
// JSON. Fields that are never written piece by piece, such as "type", "id" or all below
// "input", are texts of their own.
//
// The number and order of the events stay. Lines other than data, comments and the empty
// lines of a keepalive among them, pass at once, data with the end of its event. An event
// never waits for another: only the end of its text that may turn out to be the beginning of
// a secret is held back, and written in front of the same field of a later event. If the
// stream or an event that ends it, such as {"type":"done"} or [DONE], comes first, the rest
// is written in an extra event before it, which repeats the event that the rest is from with
// nothing else in its texts and without an id; a rest that may be a secret is REDACTED there.
//
// Texts of one path are told apart by the "index" of an object around them, not by its id:
// messages that are interleaved under one path count as one text. A stream that is redacted
// again keeps its texts; a rest may then move to another event.
//
// An event of more than 1 MiB is redacted on its own as it comes. The zero value is ready for use.
type SSERedactor struct {
	dst     []byte
	line    []byte // the line so far
	started bool   // a line was seen
	cr      bool   // the last byte was a carriage return
	event   sseEvent
	name    string // of the last event that had one, so that the next one needs no new string
	state   sseFields
	huge    *sseHuge // the event is larger than maxEvent
}

// sseEvent is the event that is being read.
type sseEvent struct {
	name string
	raw  []byte // lines that were not written yet
	data bool   // raw has a line of data
}

// NewSSERedactor returns a redactor of a text/event-stream.
func NewSSERedactor() *SSERedactor { return new(SSERedactor) }

// Append implements [Transformer].
func (r *SSERedactor) Append(dst, src []byte) []byte {
	r.dst = dst
	for len(src) > 0 {
		if r.cr {
			// The second half of a line end.
			if r.cr = false; src[0] == '\n' {
				if r.pass(src[:1]); len(src) == 1 {
					break
				}
				src = src[1:]
			}
		}
		if n := r.known(src); n > 0 {
			r.dst = append(r.dst, src[:n]...)
			r.cr = src[n-1] == '\r'
			r.event.name = ""
			src = src[n:]
			continue
		}
		n := lineLength(src)
		if n == len(src) {
			r.part(src)
			break
		}
		r.part(src[:n])
		r.cr = src[n] == '\r'
		r.lineEnds(src[n : n+1])
		src = src[n+1:]
	}
	dst, r.dst = r.dst, nil
	return dst
}

// Close implements [Transformer].
func (r *SSERedactor) Close(dst []byte) []byte {
	r.dst = dst
	if r.huge != nil {
		r.dst = r.huge.close(r.dst)
	} else if len(r.line) > 0 {
		r.lineEnds(nil)
	}
	// Texts that go on in an event that is not complete end in it; the others end before it.
	cut := r.event.raw
	var last []byte
	if len(cut) > 0 {
		last = r.redact(nil, cut, true)
	}
	r.dst = r.state.flush(r.dst)
	r.dst = append(r.dst, last...)
	dst = r.dst
	*r = SSERedactor{line: r.line[:0], event: sseEvent{raw: r.event.raw[:0]}}
	return dst
}

// known reads the event that src begins with if its shape is known and it passes as it is, and
// returns its length, else 0. This depends on how the stream is cut; what is written does not.
func (r *SSERedactor) known(src []byte) int {
	if !r.started || r.huge != nil || len(r.line) > 0 || len(r.event.raw) > 0 || r.state.alive {
		return 0
	}
	return r.state.shapes.pass(r.event.name, src)
}

// part takes bytes of a line.
func (r *SSERedactor) part(p []byte) {
	if r.huge != nil {
		r.dst = r.huge.part(r.dst, p)
		return
	}
	r.line = append(r.line, p...)
	if len(r.line)+len(r.event.raw) > maxEvent {
		r.huge = new(sseHuge)
		r.dst = r.huge.open(r.dst, r.event.raw)
		r.dst = r.huge.part(r.dst, r.line)
		r.line, r.event.raw = r.line[:0], r.event.raw[:0]
	}
}

// pass writes the second half of a line end where the line went.
func (r *SSERedactor) pass(lf []byte) {
	if len(r.event.raw) > 0 {
		r.event.raw = append(r.event.raw, lf...)
		return
	}
	r.dst = append(r.dst, lf...)
}

// lineEnds takes a complete line.
func (r *SSERedactor) lineEnds(end []byte) {
	if r.huge != nil {
		var done bool
		if r.dst, done = r.huge.line(r.dst, end); done {
			r.huge, r.event = nil, sseEvent{raw: r.event.raw[:0]}
		}
		return
	}
	line := r.line
	r.line = r.line[:0]
	if !r.started {
		r.started = true
		if rest, ok := bytes.CutPrefix(line, []byte("\ufeff")); ok {
			line = rest
			r.dst = append(r.dst, "\ufeff"...)
		}
	}
	if len(line) == 0 {
		r.event.raw = append(r.event.raw, end...)
		if r.event.data {
			r.dst = r.redact(r.dst, r.event.raw, false)
		} else {
			r.dst = append(r.dst, r.event.raw...)
		}
		r.event = sseEvent{raw: r.event.raw[:0]}
		return
	}
	field, value := sseField(line)
	data := string(field) == "data"
	if string(field) == "event" {
		if string(value) != r.name {
			r.name = string(value)
		}
		r.event.name = r.name
	}
	if data {
		r.event.data = true
	} else if _, _, rule := find(marks, 0, line); rule >= 0 {
		line = []byte(Redact(string(line)))
	}
	// Where a rest is held back an event may have to go before this one.
	if data || len(r.event.raw) > 0 || len(field) > 0 && r.state.holds() {
		r.event.raw = append(append(r.event.raw, line...), end...)
		return
	}
	r.dst = append(append(r.dst, line...), end...)
}

// redact appends the event with its data redacted; last says that its texts end here.
func (r *SSERedactor) redact(dst, event []byte, last bool) []byte {
	data := sseData(event)
	end := r.state.alive && ends(r.event.name, data)
	if end && !last {
		dst = r.state.flush(dst)
	}
	var text []byte
	switch {
	case end && string(data) == "[DONE]":
		text = data
	case len(data) > 0 && (data[0] == '{' || data[0] == '[' || data[0] == '"') && json.Valid(data):
		text = r.state.document(r.event.name, data, last || end)
	default:
		text = r.state.message(r.event.name, data, last || end)
	}
	if end {
		r.state.reset()
	}
	if r.state.alive = r.state.live(); !r.state.alive {
		r.state.shapes.learn(r.event.name, event, data, text)
	}
	return appendEvent(dst, event, text)
}
