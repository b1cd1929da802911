package redact

import (
	"bytes"
	"slices"

	"github.com/svc-gateway/svc/scanner/jsonscan"
	"github.com/svc-gateway/svc/scanner/redact/literal"
)

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
// no secret may have begun anywhere, stays as it is. One that ends in what may begin a secret
// waits as it came, see shapeWait.
//
// If one slot has a mark and belongs to a text that goes on, only that text is looked at closely,
// see [streamFields.piece].
//
// Keys are fixed. A string that makes the next one a secret, such as the "password" of
// {"name":"password","value":"x"}, has a mark.
type shape struct {
	name  string // of the event
	data  int    // where its data begins
	fixed []byte // all but the slots
	slots []slot
}

// slot is a place in a shape where events differ.
type slot struct {
	at   int // in fixed
	kind slotKind
	text *fieldText // of a fieldString
	same []byte     // ownString: one without a mark, with its closing quote
	room []byte     // for the inside, decoded
	next bool       // it may make the next string a secret

	cleared *literal.Forms // of which same has none

	// Of the event that is being compared.
	start, end int
	state      literal.State // of the automaton after a fieldString
	tail       int           // bytes at the end of a fieldString that may begin a secret
	escaped    bool          // it has escapes
	anew       bool          // it repeats all of its text, and so begins it anew
	kept       bool          // it is the same as in the event before
	marked     bool          // it has to be looked at closely
}

type slotKind uint8

const (
	number      slotKind = iota // also the id of the event, in the line after its data
	ownString                   // a text of its own
	fieldString                 // a piece of a text that goes on from event to event
)

// match returns the length of the event of this shape that p begins with, 0 if there is none
// or it has to be looked at as a whole.
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

// advance tells the texts of an event that was matched what they went on with.
func (s *shape) advance(event []byte) {
	for k := range s.slots {
		switch t := &s.slots[k]; {
		case t.marked: // its text was told
		case t.kind == fieldString:
			if t.anew {
				t.text.restart(Mark)
			}
			t.text.grow(event[t.start:t.end])
			if t.end > t.start {
				t.text.json.form = asText
			}
			e := &t.text.json.engine
			if e.state = t.state; t.escaped {
				t.room = jsonscan.AppendUnescaped(t.room[:0], event[t.start:])
				e.remember(t.room)
			} else {
				e.remember(event[t.start:t.end])
			}
		case t.kind == ownString:
			if inside := event[t.start : t.end+1]; !t.kept && len(inside) <= maxSame {
				t.same, t.cleared = append(t.same[:0], inside...), nil
			}
		}
	}
}

// marked returns the slots that have to be looked at closely.
func (s *shape) marked() (t *slot, n int) {
	for k := range s.slots {
		if s.slots[k].marked {
			t = &s.slots[k]
			n++
		}
	}
	return t, n
}

// undecided returns the slots that end in what may begin a secret.
func (s *shape) undecided() (t *slot, n int) {
	for k := range s.slots {
		if s.slots[k].tail > 0 {
			t = &s.slots[k]
			n++
		}
	}
	return t, n
}

// read returns the length of what stands in the slot, -1 if it must be looked at closely.
func (t *slot) read(p []byte) int {
	t.anew = false
	n := t.length(p)
	if t.kind != fieldString || n <= 0 {
		return n
	}
	switch t.text.again(p[:n]) {
	case mayRepeat:
		return -1
	case repeats:
		t.anew = true
		return t.inside(p, 0)
	}
	return n
}

// apart reports whether the slot may be looked at by itself.
func (t *slot) apart() bool { return t.kind == fieldString && !t.anew && !t.next }

// length returns the length of what stands in the slot, -1 if it may have to be redacted.
func (t *slot) length(p []byte) int {
	switch t.kind {
	case number:
		return jsonscan.NumberLength(p)
	case ownString:
		if t.kept = len(t.same) > 0 && bytes.HasPrefix(p, t.same); t.kept {
			t.escaped = bytes.IndexByte(t.same, '\\') >= 0
			return len(t.same) - 1
		}
		return t.inside(p, 0)
	default:
		return t.inside(p, t.text.json.state)
	}
}

// inside reads the inside of a string up to its closing quote and returns its length, -1 if it is not
// JSON, or has a mark and may not be looked at by itself.
func (t *slot) inside(p []byte, state literal.State) int {
	t.escaped, t.tail, t.marked = false, 0, false
	if t.mayBeJSON(p) {
		return -1
	}
	for i := 0; i < len(p); {
		end := i + jsonscan.PlainLength(p[i:])
		for i < end && !t.marked {
			next, n, found := marks.Find(state, p[i:end])
			if state, i = next, i+n; found && (t.escaped || t.may(state, p[:i])) {
				t.marked = true
			}
		}
		i = end
		if i == len(p) {
			break
		}
		switch p[i] {
		case '"':
			t.state = state
			if t.marked = t.marked || t.kind == fieldString && !t.settle(p[:i]); t.marked {
				t.tail = 0
			}
			if t.marked && !t.apart() {
				return -1
			}
			return i
		case '\\':
			var room [4]byte
			text, n, more := jsonscan.Unescape(p[i:], room[:0])
			if more || n == 1 {
				return -1
			}
			next, _, found := marks.Find(state, text)
			t.marked = t.marked || found
			state, t.escaped = next, true
			i += n
		default: // a control character
			return -1
		}
	}
	return -1
}

// may reports whether one of the marks that end in the state, behind p, may be what it seems by what
// stands before it, in this string and in those that the text goes on from.
func (t *slot) may(state literal.State, p []byte) bool {
	if t.kind != fieldString || !marks.May(state, p) {
		return marks.May(state, p)
	}
	e := &t.text.json.engine
	t.room = t.room[:0]
	if !t.anew {
		t.room = append(t.room, e.before[:e.seen]...)
	}
	t.room = append(t.room, p...)
	before := t.room[max(0, len(t.room)-lookBehind):]
	return slices.ContainsFunc(marks.Ends(state), func(m literal.Mark) bool { return e.fits(m, before) })
}

// mayBeJSON reports whether the text that begins or goes on here may be JSON itself.
func (t *slot) mayBeJSON(p []byte) bool {
	if t.kind == fieldString && !t.anew && t.text.json.form != unread {
		return t.text.json.form == asJSON
	}
	return len(p) > 0 && (is(p[0], space) || p[0] == '{' || p[0] == '[' || p[0] == '\\')
}

// settle notes how many of the last bytes of the inside of a string may begin a token. It
// reports false when that depends on what stands before the string.
func (t *slot) settle(p []byte) bool {
	if !marks.Holds(t.state) {
		return true
	}
	if t.escaped {
		return false
	}
	t.tail = marks.Held(t.state, p)
	return t.tail == 0 || t.tail+literal.MaxApart <= len(p)
}

// clear reports whether the string that the slot holds in an event, together with what waits
// before it, has no known secret. It notes how many of its last bytes may begin one.
func (t *slot) clear(before, event []byte, secrets *literal.Forms) bool {
	if t.text != nil && !t.anew { // which keeps to what was secret when it began
		t.text.json.finder.active()
		secrets = t.text.json.finder.forms
	}
	if secrets == nil || t.kept && t.cleared == secrets {
		return true
	}
	text := event[t.start:t.end]
	if len(before) > 0 || t.escaped {
		t.room = jsonscan.AppendUnescaped(append(t.room[:0], before...), event[t.start:])
		text = t.room
	}
	at, form := secrets.Find(text, t.kind == ownString)
	tail := len(text) - at
	if form != "" || tail > 0 && t.escaped || tail > t.end-t.start {
		return false
	}
	t.tail = max(t.tail, tail)
	if t.kept {
		t.cleared = secrets
	}
	return true
}
