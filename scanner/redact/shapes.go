package redact

import (
	"bytes"
	"slices"

	"github.com/svc-gateway/svc/scanner/jsonscan"
	"github.com/svc-gateway/svc/scanner/redact/literal"
	"github.com/svc-gateway/svc/scanner/sse"
)

// shapes are the shapes of the last events, and the one of the event that is being redacted.
type shapes struct {
	learned [maxShapes]shape
	count   int // of those that are known
	last    int // the one that fitted last
	next    int // the one that is replaced next
	wait    shapeWait

	// Of the event that is being redacted.
	draft []slot
	fixed []byte
	bad   bool // it has no shape
}

// find returns the shape of the event that src begins with, and its length, when the event stays
// as it is or waits; else nil.
func (s *shapes) find(name string, src []byte, secrets *literal.Forms) (*shape, int) {
	src = src[:min(len(src), maxKnown)]
	for range s.count {
		if f := &s.learned[s.last]; f.name == name {
			if n := f.match(src); n > 0 && s.wait.allows(f, src[:n], secrets) {
				return f, n
			}
		}
		if s.last++; s.last >= s.count {
			s.last = 0
		}
	}
	return nil, 0
}

// pass appends an event whose shape was found, or makes it wait. head is the lines before it. The
// event that waited before it passes first.
func (s *shapes) pass(dst []byte, f *shape, head, event []byte) []byte {
	dst = s.wait.release(dst)
	if t, n := f.undecided(); n > 0 {
		s.wait.hold(f, t, head, event)
	} else {
		dst = append(append(dst, head...), event...)
	}
	f.advance(event)
	return dst
}

// forget forgets all shapes. Texts that are dropped must not be written to any more.
func (s *shapes) forget() {
	for i := range s.learned[:s.count] {
		clear(s.learned[i].slots)
	}
	s.count, s.last, s.next = 0, 0, 0
	s.spoil()
}

// begin begins the draft of a shape.
func (s *shapes) begin() { s.draft, s.bad = s.draft[:0], false }

// spoil says that the event has no shape.
func (s *shapes) spoil() { s.bad = true }

// addSlot adds a slot where the walker is.
func (s *shapes) addSlot(w *walker, t slot) {
	twice := t.text != nil && slices.ContainsFunc(s.draft, func(o slot) bool { return o.text == t.text })
	if s.bad = s.bad || twice || len(w.out) != w.at || len(s.draft) == maxSlots; s.bad {
		return
	}
	if t.start = w.at; t.kind != number {
		t.start++ // the quote
		t.next = w.collect
	}
	s.draft = append(s.draft, t)
}

// shut ends the fieldString that was added last where the output ends.
func (s *shapes) shut(end int) {
	if !s.bad {
		s.draft[len(s.draft)-1].end = end
	}
}

// learn remembers the shape of an event whose data was redacted as text. Only what stayed as
// it is, slot by slot, has a shape.
func (s *shapes) learn(name string, event, data, text []byte) {
	if s.bad || len(s.draft) == 0 || len(event) > maxKnown || !bytes.Equal(data, text) {
		return
	}
	line, _, rest := sse.Line(event)
	for !sse.IsData(line) && len(rest) > 0 {
		event = rest // the lines before the data pass as they are
		line, _, rest = sse.Line(event)
	}
	_, value := sse.Field(line)
	before := len(line) - len(value) // the data
	id := numberedID(rest)
	if !sse.IsData(line) || id < 0 {
		return
	}
	if id > 0 {
		s.draft = append(s.draft, slot{kind: number, start: len(event) - len(rest) + id - before})
	}
	s.fixed = s.fixed[:0]
	from := 0
	for i := range s.draft {
		t := &s.draft[i]
		start := before + t.start
		n := t.length(event[start:])
		if n < 0 || t.text != nil && t.end != t.start+n {
			return
		}
		s.fixed = append(s.fixed, event[from:start]...)
		t.at, from = len(s.fixed), start+n
	}
	s.fixed = append(s.fixed, event[from:]...)
	if len(s.fixed) > maxFixed || s.has(name) {
		return
	}
	f := &s.learned[s.next]
	f.name, f.data, f.fixed, s.fixed = name, before, s.fixed, f.fixed
	f.slots = append(f.slots[:0], s.draft...)
	s.last = s.next
	s.count = max(s.count, s.next+1)
	s.next = (s.next + 1) % maxShapes
}

// numberedID returns where the number of an event's id stands in the lines after its data, 0 if there
// are none, -1 if there is anything else.
func numberedID(lines []byte) int {
	line := bytes.TrimRight(lines, "\r\n")
	if len(line) == 0 {
		return 0
	}
	name, id := sse.Field(line)
	if string(name) != "id" || jsonscan.NumberLength(id) != len(id) {
		return -1
	}
	return len(line) - len(id)
}

// has reports whether the shape with the fixed bytes of the draft is known.
func (s *shapes) has(name string) bool {
	return slices.ContainsFunc(s.learned[:s.count], func(f shape) bool {
		return f.name == name && bytes.Equal(f.fixed, s.fixed)
	})
}
