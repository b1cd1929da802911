package redact

import "slices"

// limits of what waits for the end of a match.
const (
	maxWaiting      = 256       // events
	maxWaitingBytes = 256 << 10 // their bytes
)

// eventQueue is the events that wait, in their order. An event waits only while one before it, or
// itself, has a hole.
type eventQueue struct {
	events []waiting
	bytes  int
}

// waiting is an event that waits.
type waiting struct {
	event []byte // as it came
	text  []byte // its data, redacted, without what is in the holes
	holes []*hole
	write writer
}

// writer appends an event with its data redacted.
type writer func(dst, event, text []byte) []byte

// hole is the place of an undecided end of a text in an event.
type hole struct {
	text *fieldText // nil when it was decided
	at   int        // in the redacted data
	fill []byte
}

// push puts an event behind the others.
func (q *eventQueue) push(e waiting) {
	q.events = append(q.events, e)
	q.bytes += len(e.event) + len(e.text)
}

// extend adds the second half of its line end to the last event.
func (q *eventQueue) extend(lf []byte) {
	last := &q.events[len(q.events)-1]
	last.event = append(last.event, lf...)
}

// full reports whether there is no room for more.
func (q *eventQueue) full() bool { return len(q.events) >= maxWaiting || q.bytes >= maxWaitingBytes }

// release appends the events that need not wait any longer.
func (q *eventQueue) release(dst []byte) []byte {
	n := 0
	for ; n < len(q.events); n++ {
		e := &q.events[n]
		if slices.ContainsFunc(e.holes, func(h *hole) bool { return h.text != nil }) {
			break
		}
		q.bytes -= len(e.event) + len(e.text)
		dst = e.write(dst, e.event, e.filled())
	}
	q.events = slices.Delete(q.events, 0, n)
	return dst
}

// filled returns the data with what belongs into the holes.
func (e *waiting) filled() []byte {
	var data []byte
	from := 0
	for _, h := range e.holes {
		data = append(append(data, e.text[from:h.at]...), h.fill...)
		from = h.at
	}
	return append(data, e.text[from:]...)
}

// each calls f for the texts that have holes, in the order of the events.
func (q *eventQueue) each(f func(*fieldText)) {
	for i := range q.events {
		for _, h := range q.events[i].holes {
			if h.text != nil {
				f(h.text)
			}
		}
	}
}
