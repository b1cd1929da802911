package redact

import (
	"bytes"

	"github.com/svc-gateway/svc/scanner/redact/hugeevent"
	"github.com/svc-gateway/svc/scanner/sse"
)

// limits of an event stream.
const (
	maxEvent  = 1 << 20 // bytes of an event; a larger one is redacted on its own
	maxFields = 1024    // fields that are remembered from event to event
)

// EventStream redacts a text/event-stream whose events carry JSON or plain text. A secret is
// found also when it is split over events: each string field, told by its path in the JSON, is
// one text from event to event whatever the events are called, and so is the data that is not
// JSON. Texts of one path are told apart by the ids and the "index" of the objects around them,
// so that messages may be interleaved. Fields that are never written piece by piece, such as
// "type", "id" or all below "input", are texts of their own. A string that begins with all of
// its text so far is a snapshot, which begins the text anew.
//
// The number and order of the events stay. Comments and the empty lines of a keepalive pass at
// once, an event with its last line. Only an event whose text ends in what may turn out to be
// the beginning of a secret waits, and those after it with it, until the next piece of the text
// or an event that ends the stream, such as {"type":"done"} or [DONE], or for Idle. When more than 256
// events or 256 KiB wait, what may be a secret becomes REDACTED.
//
// An event of more than 1 MiB is redacted on its own as it comes. The zero value is ready for use.
type EventStream struct {
	dst     []byte
	line    []byte // the line so far
	started bool   // a line was seen
	cr      bool   // the last byte was a carriage return
	direct  bool   // the last line passed at once
	event   openEvent
	name    string // of the last event that had one, so that the next one needs no new string
	state   streamFields
	huge    *hugeevent.Event // the event is larger than maxEvent
}

// openEvent is the event that is being read.
type openEvent struct {
	name string
	raw  []byte // lines that were not written yet
	data bool   // raw has a line of data
}

// NewEventStream returns a redactor of a text/event-stream.
func NewEventStream() *EventStream { return new(EventStream) }

// Append implements [Stream].
func (r *EventStream) Append(dst, src []byte) []byte {
	r.dst = dst
	for len(src) > 0 {
		if r.cr {
			// The second half of a line end.
			if r.cr = false; src[0] == '\n' {
				if r.passLineFeed(src[:1]); len(src) == 1 {
					break
				}
				src = src[1:]
			}
		}
		if f, n := r.knownShape(src); n > 0 {
			r.known(f, src[:n])
			src = src[n:]
			continue
		}
		n := sse.LineLength(src)
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

// Close implements [Stream].
func (r *EventStream) Close(dst []byte) []byte {
	r.dst = dst
	r.redactWaiting()
	if r.huge != nil {
		r.dst = r.huge.Close(r.dst)
	} else if len(r.line) > 0 {
		r.lineEnds(nil)
	}
	// Texts that go on in an event that is not complete end in it; the others end before it.
	if len(r.event.raw) > 0 {
		r.redact(true)
	}
	r.dst = r.state.flush(r.dst)
	dst = r.dst
	*r = EventStream{state: streamFields{from: r.state.from}, line: r.line[:0], event: openEvent{raw: r.event.raw[:0]}}
	return dst
}

// known takes an event of a known shape, behind the lines that come before its data.
func (r *EventStream) known(f *shape, event []byte) {
	if t, _ := f.marked(); t != nil {
		r.event.raw = append(r.event.raw, event...)
		r.dst = r.state.piece(r.dst, f, t, event, r.event.raw)
		r.direct = false
	} else {
		r.dst = r.state.shapes.pass(r.dst, f, r.event.raw, event)
		r.direct = !r.state.shapes.wait.waits()
	}
	r.cr = event[len(event)-1] == '\r'
	r.event = openEvent{raw: r.event.raw[:0]}
}

// knownShape returns the shape of the event that src begins with, and its length, if it is known and
// nothing but one text has to be looked at closely; else nil. This depends on how the stream is cut; what is written
// does not.
func (r *EventStream) knownShape(src []byte) (*shape, int) {
	if !r.started || r.huge != nil || len(r.line) > 0 || r.event.data || r.state.alive {
		return nil, 0
	}
	return r.state.shapes.find(r.event.name, src, r.state.from.load())
}

// redactWaiting redacts the event of a known shape that waits.
func (r *EventStream) redactWaiting() {
	w := &r.state.shapes.wait
	if event := w.takeBack(); len(event) > 0 {
		r.dst = r.state.event(r.dst, w.name, event, sse.Data(event), false, sse.WithData)
	}
}

// part takes bytes of a line.
func (r *EventStream) part(p []byte) {
	if r.huge != nil {
		r.dst = r.huge.Part(r.dst, p)
		return
	}
	r.line = append(r.line, p...)
	if len(r.line)+len(r.event.raw) > maxEvent {
		r.huge = hugeevent.New(r.state.from.JSONStream(), r.state.from.TextStream())
		r.redactWaiting()
		r.dst = r.state.flush(r.dst)
		r.dst = r.huge.Begin(r.dst, r.event.raw)
		r.dst = r.huge.Part(r.dst, r.line)
		r.line, r.event.raw = r.line[:0], r.event.raw[:0]
	}
}

// passLineFeed writes the second half of a line end where the line went.
func (r *EventStream) passLineFeed(lf []byte) {
	switch {
	case len(r.event.raw) > 0:
		r.event.raw = append(r.event.raw, lf...)
	case r.direct:
		r.dst = append(r.dst, lf...)
	case r.state.shapes.wait.waits():
		r.state.shapes.wait.extend(lf)
	case r.state.queue.Empty():
		r.dst = append(r.dst, lf...)
	default:
		r.state.queue.Extend(lf)
	}
}

// lineEnds takes a complete line.
func (r *EventStream) lineEnds(end []byte) {
	if r.huge != nil {
		var done bool
		if r.dst, done = r.huge.Line(r.dst, end); done {
			r.huge, r.event = nil, openEvent{raw: r.event.raw[:0]}
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
	if r.direct = len(r.event.raw) == 0 && len(line) == 0; r.direct {
		r.dst = append(r.dst, end...)
		r.event.name = ""
		return
	}
	if len(line) == 0 {
		r.event.raw = append(r.event.raw, end...)
		if r.event.data {
			r.redact(false)
		} else {
			r.redactWaiting()
			r.dst = r.state.emit(r.dst, r.event.raw, nil, asItCame)
		}
		r.event = openEvent{raw: r.event.raw[:0]}
		return
	}
	field, value := sse.Field(line)
	data := string(field) == "data"
	if string(field) == "event" {
		if string(value) != r.name {
			r.name = string(value)
		}
		r.event.name = r.name
	}
	if data {
		r.event.data = true
	} else if !r.state.from.stays(line) {
		line = []byte(r.state.from.Redact(string(line)))
	}
	// A comment outside of events passes at once.
	if len(field) > 0 || len(r.event.raw) > 0 {
		r.event.raw = append(append(r.event.raw, line...), end...)
		return
	}
	r.direct = true
	r.dst = append(append(r.dst, line...), end...)
}

// asItCame writes an event without data.
func asItCame(dst, event, _ []byte) []byte { return append(dst, event...) }

// redact writes the event with its data redacted; last says that its texts end here.
func (r *EventStream) redact(last bool) {
	r.redactWaiting()
	r.dst = r.state.event(r.dst, r.event.name, r.event.raw, sse.Data(r.event.raw), last, sse.WithData)
}
