package redact

import (
	"bytes"
	"slices"

	"github.com/svc-gateway/svc/scanner/jsonscan"
	"github.com/svc-gateway/svc/scanner/redact/literal"
	"github.com/svc-gateway/svc/scanner/redact/snapshot"
	"github.com/svc-gateway/svc/scanner/redact/waiting"
)

// fieldText is a text that is written piece by piece. It is either a field of JSON documents or
// data that is no JSON.
type fieldText struct {
	path  string
	json  jsonText
	plain *TextStream
	hole  *waiting.Hole[fieldText] // in an event that waits

	// A piece that begins with all of the text so far is no further piece but a snapshot of the
	// whole. One that only may be a snapshot goes on with the text, and the next snapshot may
	// begin with that piece alone.
	all     snapshot.Prefix
	piece   snapshot.Prefix
	perhaps bool   // the piece that is being read only may be a snapshot
	begun   []byte // what may begin a known secret in the text before it
	old     *oldText
}

func newFieldText(from *Secrets) *fieldText {
	t := new(fieldText)
	t.json.know(from)
	t.json.waits = true
	return t
}

func (t *fieldText) engine() *engine {
	if t.plain != nil {
		return &t.plain.engine
	}
	return &t.json.innermost().engine
}

// live reports whether a secret may have begun.
func (t *fieldText) live() bool {
	if t.plain != nil {
		return t.plain.live() || len(t.plain.finder.buf) > 0
	}
	return t.json.live()
}

// repetition says what a string is to the text so far.
type repetition uint8

const (
	goesOn    repetition = iota
	mayRepeat            // it goes on with the text, or is a snapshot of it
	repeats              // it is a snapshot of the text
)

// repeated returns what the string, whose inside raw begins with, may be a snapshot of, nil if of nothing.
func (t *fieldText) repeated(raw []byte) *snapshot.Prefix {
	for _, p := range []*snapshot.Prefix{&t.all, &t.piece} {
		if p.Begins(raw) {
			return p
		}
	}
	return nil
}

// again tells whether a string, whose inside raw begins with, repeats all of the text. A text of one
// byte is repeated by chance, as the dashes of a line are; so may be a short one that ends like a known secret,
// unless the string would go on with that and is long enough to tell.
func (t *fieldText) again(raw []byte) repetition {
	p := t.repeated(raw)
	if p == nil {
		return goesOn
	}
	e := t.engine()
	known := &t.json.finder
	if len(known.buf) > 0 && e.rule == nil && e.value.end == nil {
		text := jsonscan.AppendUnescaped(bytes.Clone(known.buf), raw)
		at, _ := known.forms.Find(text, false)
		if at < len(known.buf) && (p.Len() >= literal.MinForm || known.forms.Heads(text[len(known.buf):])) {
			return repeats
		}
		return mayRepeat
	}
	if bytes.Count(raw[:p.Len()], raw[:1]) == p.Len() {
		return mayRepeat
	}
	return repeats
}

// restart forgets the text: a new one begins, which is a snapshot of it if there is a hole. mark is what
// stands for a secret there.
func (t *fieldText) restart(mark string) {
	if t.hole != nil {
		t.old = &oldText{hole: t.hole, rest: t.rest(), length: t.all.Len(), instead: t.instead(mark)}
		t.hole = nil
	}
	t.json.cut()
	t.all.Forget()
	t.piece.Forget()
}

// oldText is a text with a hole that a snapshot repeats.
type oldText struct {
	hole          *waiting.Hole[fieldText]
	rest, instead []byte // for the hole, where nothing was redacted so far, and where something was
	length        int
}

// instead returns what stands in the hole if what is undecided is part of a secret.
func (t *fieldText) instead(mark string) []byte {
	e := t.engine()
	switch {
	case t.json.form == asJSON && e.rule == nil:
		return nil
	case e.rule == nil: // the beginning of a prefix
		return jsonscan.AppendEscaped(nil, e.held())
	case len(e.held()) > 0:
		return []byte(mark)
	}
	return nil
}

// supersede closes the hole of the text that a snapshot repeats, told the snapshot and what became of it.
func (t *fieldText) supersede(snapshot, out []byte) {
	if t.old == nil {
		return
	}
	fill := t.old.instead
	if n := t.old.length; n <= len(snapshot) && bytes.HasPrefix(out, snapshot[:n]) {
		fill = t.old.rest
	}
	t.old.hole.Fill(fill)
	t.old = nil
}

// outgrows reports whether a piece that may be a snapshot, whose inside raw begins with, goes on with the known
// secret that the text may have begun, by more than the few letters that may be seen.
func (t *fieldText) outgrows(raw []byte) bool {
	p := t.repeated(raw)
	if !t.perhaps || len(t.begun) == 0 || p == nil {
		return false
	}
	text := jsonscan.AppendUnescaped(t.begun, raw[p.Len():])
	at, form := t.json.finder.forms.Find(text, false)
	return at < len(t.begun) && (form != "" || len(text)-at > maxSpared)
}

// grow adds a piece to what was seen of the text.
func (t *fieldText) grow(raw []byte) {
	t.all.Grow(raw)
	switch {
	case t.perhaps:
		t.piece.Forget()
		t.piece.Grow(raw)
	case t.piece.Len() > 0:
		t.piece.Grow(raw)
	}
	t.perhaps = false
}

// fill closes the hole that the text left in an event.
func (t *fieldText) fill(text []byte) {
	if t.hole != nil {
		t.hole.Fill(text)
		t.hole = nil
	}
}

// heldBack returns what the text holds back in an event that waits, as it is written there.
func (t *fieldText) heldBack() []byte {
	if t.hole == nil {
		return nil
	}
	return bytes.Clone(t.rest())
}

// giveBack closes the hole when the next piece of the text was written to out[from:]. What was
// held back and begins that piece unchanged belongs where it came from; else it stays in the
// piece, or went with a secret.
func (t *fieldText) giveBack(held, out []byte, from int) []byte {
	if t.hole == nil {
		return out
	}
	if !bytes.HasPrefix(out[from:], held) {
		held = nil
	}
	t.fill(held)
	return slices.Delete(out, from, from+len(held))
}

// takeAway is giveBack for a piece that outgrows the text. What was held back goes.
func (t *fieldText) takeAway(held, out []byte, from int) []byte {
	t.fill(nil)
	n := 0
	for n < len(held) && from+n < len(out) && held[n] == out[from+n] {
		n++
	}
	return slices.Delete(out, from, from+n)
}

// end decides what the text holds back, as at the end of a text, and writes it to its hole.
func (t *fieldText) end() {
	var out []byte
	if t.plain != nil {
		out = t.plain.Close(nil)
	} else {
		t.json.out = &out
		t.json.close()
	}
	t.fill(out)
}

// giveUp gives up waiting: what may be a secret is taken for one, and so is what follows it.
func (t *fieldText) giveUp() {
	e := t.engine()
	text := t.json.innermost()
	known := &text.finder
	if t.plain != nil {
		known = &t.plain.finder
	}
	if t.json.form != asJSON && e.rule == nil && e.value.end == nil && len(known.buf) < literal.MinForm {
		t.show()
		return
	}
	kept := t.json.takeKept()
	switch {
	case e.rule == nil && len(known.buf) < literal.MinForm:
		t.fill(append(kept, t.undecided()...))
		e.sent = len(e.buf)
	default:
		t.fill(append(kept, Mark...))
		if e.rule != nil {
			e.watch.note(e.rule.name)
		} else {
			e.watch.note(KnownSecret)
		}
		e.reset()
		e.value = value{end: endBare}
	}
	known.reset()
	text.pending.Reset()
	text.encoded.Reset()
}

// undecided returns what may be a secret, as it is written in an event.
func (t *fieldText) undecided() []byte {
	if t.plain != nil {
		return t.plain.undecided()
	}
	return t.json.innermost().rest()
}

// rest returns what the text holds back, as it is written in an event.
func (t *fieldText) rest() []byte {
	if t.plain != nil {
		return t.plain.undecided()
	}
	return t.json.rest()
}
