package scanner

import "bytes"

// limits of the shapes.
const (
	maxShapes = 8
	maxFixed  = 2 << 10  // bytes that events of a shape have in common
	maxSlots  = 32       // strings and numbers in which they differ
	maxKnown  = 16 << 10 // bytes of an event that is compared with shapes
	maxSame   = 128      // bytes of a string that is compared with the one before
)

// shape is an event of JSON that was redacted and stayed as it is. The next event is often the
// same but for the insides of some strings and for numbers, its slots. Then its texts are the
// same, too, and what is fixed needs no second look: an event without a mark in its slots, while
// no secret may have begun anywhere, stays as it is.
//
// Keys are fixed. A string that makes the next one a secret, such as the "password" of
// {"name":"password","value":"x"}, has a mark.
type shape struct {
	name  string // of the event
	fixed []byte // all but the slots
	slots []slot
}

// slot is a place in a shape where events differ.
type slot struct {
	at   int // in fixed
	kind slotKind
	text *sseText // of a fieldString
	same []byte   // ownString: one without a mark, with its closing quote

	// Of the event that is being compared.
	start, end int
	state      uint16 // of the automaton after a fieldString
	escaped    bool   // it has escapes
	anew       bool   // it repeats all of its text, and so begins it anew
}

type slotKind uint8

const (
	number      slotKind = iota
	ownString            // a text of its own
	fieldString          // a piece of a text that goes on from event to event
)

// match returns the length of the event of this shape that p begins with, 0 if there is none
// that stays as it is.
func (s *shape) match(p []byte) int {
	i, at := 0, 0
	for k := range s.slots {
		t := &s.slots[k]
		if !bytes.HasPrefix(p[i:], s.fixed[at:t.at]) {
			return 0
		}
		i, at = i+t.at-at, t.at
		n := t.read(p[i:])
		if n < 0 {
			return 0
		}
		t.start, t.end = i, i+n
		i += n
	}
	if !bytes.HasPrefix(p[i:], s.fixed[at:]) {
		return 0
	}
	return i + len(s.fixed) - at
}

// unknown reports whether the slots of an event that was matched have no known secret.
func (s *shape) unknown(event []byte, secrets *knownForms) bool {
	if secrets == nil {
		return true
	}
	for k := range s.slots {
		if t := &s.slots[k]; t.kind != number && (t.escaped || !secrets.clean(event[t.start:t.end])) {
			return false
		}
	}
	return true
}

// pass tells the texts of an event that was matched what they went on with.
func (s *shape) pass(event []byte) {
	for k := range s.slots {
		switch t := &s.slots[k]; t.kind {
		case fieldString:
			if t.anew {
				t.text.restart()
			}
			t.text.grow(event[t.start:t.end])
			e := &t.text.json.engine
			if e.state = t.state; t.escaped {
				e.rememberString(event[t.start:])
			} else {
				e.remember(event[t.start:t.end])
			}
		case ownString:
			if inside := event[t.start : t.end+1]; len(inside) <= maxSame && !bytes.Equal(inside, t.same) {
				t.same = append(t.same[:0], inside...)
			}
		}
	}
}

// read returns the length of what stands in the slot, -1 if it must be looked at closely.
func (t *slot) read(p []byte) int {
	n := t.length(p)
	if t.anew = t.kind == fieldString && n > 0 && t.text.again(p[:n]); t.anew {
		return t.inside(p, 0)
	}
	return n
}

// length returns the length of what stands in the slot, -1 if it may have to be redacted.
func (t *slot) length(p []byte) int {
	switch t.kind {
	case number:
		return numberLength(p)
	case ownString:
		if len(t.same) > 0 && bytes.HasPrefix(p, t.same) {
			return len(t.same) - 1
		}
		return t.inside(p, 0)
	default:
		return t.inside(p, t.text.json.state)
	}
}

// inside reads the inside of a string up to its closing quote and returns its length, -1 if a
// mark ends in it or it is not JSON.
func (t *slot) inside(p []byte, state uint16) int {
	t.escaped = false
	for i := 0; i < len(p); i++ {
		b := p[i]
		if b == '"' {
			if t.state = state; t.kind == fieldString && !t.settled(p[:i], state) {
				return -1
			}
			return i
		}
		if b == '\\' {
			var room [4]byte
			text, n, more := unescape(p[i:], room[:0])
			if more || n == 1 {
				return -1
			}
			next, _, found := marks.find(state, text)
			if found {
				return -1
			}
			state, t.escaped = next, true
			i += n - 1
			continue
		}
		if state = marks.next[state+uint16(marks.class[b])]; b < ' ' || state >= marks.accept {
			return -1
		}
	}
	return -1
}

// settled reports whether no token may have begun at the end of the inside of a string.
func (t *slot) settled(p []byte, state uint16) bool {
	return len(marks.holds[state/marks.stride]) == 0 || !t.escaped && marks.held(state, p) == 0
}

// rememberString remembers the inside of a string, of which p is all up to its closing quote at
// least.
func (e *engine) rememberString(p []byte) {
	for {
		n := 0
		for p[n] != '"' && p[n] != '\\' {
			n++
		}
		if e.remember(p[:n]); p[n] == '"' {
			return
		}
		var room [4]byte
		text, m, _ := unescape(p[n:], room[:0])
		e.remember(text)
		p = p[n+m:]
	}
}

// numberLength returns the length of the JSON number that p begins with, -1 if there is none.
func numberLength(p []byte) int {
	n := 0
	if len(p) > 0 && p[0] == '-' {
		n++
	}
	whole := digits(p[n:])
	if whole == 0 || whole > 1 && p[n] == '0' {
		return -1
	}
	n += whole
	if n < len(p) && p[n] == '.' {
		fraction := digits(p[n+1:])
		if fraction == 0 {
			return -1
		}
		n += 1 + fraction
	}
	if n < len(p) && (p[n] == 'e' || p[n] == 'E') {
		if n++; n < len(p) && (p[n] == '+' || p[n] == '-') {
			n++
		}
		exponent := digits(p[n:])
		if exponent == 0 {
			return -1
		}
		n += exponent
	}
	return n
}

// digits returns the number of digits that p begins with.
func digits(p []byte) int {
	n := 0
	for n < len(p) && is(p[n], digit) {
		n++
	}
	return n
}
