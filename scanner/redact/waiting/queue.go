// Package waiting keeps the events of a stream in their order while texts in them have an end that is not
// decided.
//
//	q.Push(waiting.Event[text]{Raw: raw, Data: data, Holes: holes, Write: write})
//	dst = q.Release(dst)   // those that need not wait any longer
//
// # Guarantees
//
// An event waits only while one before it, or itself, has a hole that is open.
//
// # Concurrency
//
// A queue belongs to one goroutine at a time.
package waiting

import "slices"

// Limits of what waits for the end of a match.
const (
	MaxEvents = 256
	maxBytes  = 256 << 10 // of the events
)

// Queue is the events that wait. The zero value is ready for use.
type Queue[T any] struct {
	events []Event[T]
	bytes  int
}

// Event is an event that waits.
type Event[T any] struct {
	Raw   []byte // as it came
	Data  []byte // redacted, without what is in the holes
	Holes []*Hole[T]
	Write Writer
}

// Writer appends an event with its data redacted.
type Writer func(dst, event, data []byte) []byte

// Hole is the place of an undecided end of a text in an event.
type Hole[T any] struct {
	Text *T  // nil when it was decided
	At   int // in the redacted data
	fill []byte
}

// Fill closes the hole.
func (h *Hole[T]) Fill(text []byte) { h.fill, h.Text = text, nil }

// Empty reports whether no event waits.
func (q *Queue[T]) Empty() bool { return len(q.events) == 0 }

// Push puts an event behind the others.
func (q *Queue[T]) Push(e Event[T]) {
	q.events = append(q.events, e)
	q.bytes += len(e.Raw) + len(e.Data)
}

// Extend adds the second half of its line end to the last event.
func (q *Queue[T]) Extend(lf []byte) {
	last := &q.events[len(q.events)-1]
	last.Raw = append(last.Raw, lf...)
}

// Full reports whether there is no room for more.
func (q *Queue[T]) Full() bool { return len(q.events) >= MaxEvents || q.bytes >= maxBytes }

// Release appends the events that need not wait any longer.
func (q *Queue[T]) Release(dst []byte) []byte {
	n := 0
	for ; n < len(q.events); n++ {
		e := &q.events[n]
		if slices.ContainsFunc(e.Holes, func(h *Hole[T]) bool { return h.Text != nil }) {
			break
		}
		q.bytes -= len(e.Raw) + len(e.Data)
		dst = e.Write(dst, e.Raw, e.filled())
	}
	q.events = slices.Delete(q.events, 0, n)
	return dst
}

// filled returns the data with what belongs into the holes.
func (e *Event[T]) filled() []byte {
	var data []byte
	from := 0
	for _, h := range e.Holes {
		data = append(append(data, e.Data[from:h.At]...), h.fill...)
		from = h.At
	}
	return append(data, e.Data[from:]...)
}

// Each calls f for the texts that have holes, in the order of the events.
func (q *Queue[T]) Each(f func(*T)) {
	for i := range q.events {
		for _, h := range q.events[i].Holes {
			if h.Text != nil {
				f(h.Text)
			}
		}
	}
}
