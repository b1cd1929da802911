package redact

import (
	"bytes"
	"hash/maphash"
	"slices"
)

// fieldText is a text that is written piece by piece. It is either a field of JSON documents or
// data that is no JSON.
type fieldText struct {
	json  jsonText
	plain *TextStream
	hole  *hole // in an event that waits

	// All of the text so far, as it was encoded. A piece that begins with it is no further
	// piece but a snapshot of the whole.
	length int
	sum    maphash.Hash
}

// seed makes the sums of all texts comparable.
var seed = maphash.MakeSeed()

func newFieldText(from *Secrets) *fieldText {
	t := new(fieldText)
	t.json.know(from)
	t.sum.SetSeed(seed)
	return t
}

func (t *fieldText) engine() *engine {
	if t.plain != nil {
		return &t.plain.engine
	}
	return &t.json.engine
}

// undecided is what the text holds back.
func (t *fieldText) undecided() []byte {
	if t.plain != nil {
		return t.plain.undecided()
	}
	return t.json.undecided()
}

// live reports whether a secret may have begun.
func (t *fieldText) live() bool { return t.engine().live() || len(t.undecided()) > 0 }

// again reports whether a string, whose inside raw begins with, repeats all of the text.
func (t *fieldText) again(raw []byte) bool {
	return t.length > 0 && t.length <= len(raw) && maphash.Bytes(seed, raw[:t.length]) == t.sum.Sum64()
}

// restart forgets the text: a new one begins.
func (t *fieldText) restart() {
	if t.hole != nil {
		t.giveUp()
	}
	t.json.cut()
	t.length = 0
	t.sum.Reset()
}

// grow adds a piece to what was seen of the text.
func (t *fieldText) grow(raw []byte) {
	t.length += len(raw)
	_, _ = t.sum.Write(raw)
}

// fill closes the hole that the text left in an event.
func (t *fieldText) fill(text []byte) {
	if t.hole != nil {
		t.hole.fill, t.hole.text = text, nil
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
	if e.rule == nil {
		t.fill(t.rest())
		e.sent = len(e.buf)
	} else {
		t.fill([]byte(Mark))
		e.watch.note(e.rule.name)
		e.reset()
		e.value = value{end: endBare}
	}
	t.json.finder.reset()
	t.json.pending.reset()
	t.json.encoded.reset()
	if t.plain != nil {
		t.plain.finder.reset()
	}
}

// rest returns what the text holds back, as it is written in an event.
func (t *fieldText) rest() []byte {
	if t.plain != nil {
		return t.undecided()
	}
	return appendEscaped(nil, t.undecided())
}
