package scanner

import (
	"bytes"
	"hash/maphash"
	"slices"
)

// sseText is a text that is written piece by piece. It is either a field of JSON documents or
// data that is no JSON.
type sseText struct {
	json  jsonText
	plain *Redactor
	hole  *hole // in an event that waits

	// All of the text so far, as it was encoded. A piece that begins with it is no further
	// piece but a snapshot of the whole.
	length int
	sum    maphash.Hash
}

// seed makes the sums of all texts comparable.
var seed = maphash.MakeSeed()

func newSSEText(from *Secrets) *sseText {
	t := new(sseText)
	t.json.known.from = from
	t.sum.SetSeed(seed)
	return t
}

func (t *sseText) engine() *engine {
	if t.plain != nil {
		return &t.plain.engine
	}
	return &t.json.engine
}

// undecided is what the text holds back.
func (t *sseText) undecided() []byte {
	if t.plain != nil {
		return t.plain.undecided()
	}
	return t.json.undecided()
}

// live reports whether a secret may have begun.
func (t *sseText) live() bool { return t.engine().live() || len(t.undecided()) > 0 }

// again reports whether a string, whose inside raw begins with, repeats all of the text.
func (t *sseText) again(raw []byte) bool {
	return t.length > 0 && t.length <= len(raw) && maphash.Bytes(seed, raw[:t.length]) == t.sum.Sum64()
}

// restart forgets the text: a new one begins.
func (t *sseText) restart() {
	if t.hole != nil {
		t.give()
	}
	t.json.cut()
	t.length = 0
	t.sum.Reset()
}

// grow adds a piece to what was seen of the text.
func (t *sseText) grow(raw []byte) {
	t.length += len(raw)
	_, _ = t.sum.Write(raw)
}

// fill closes the hole that the text left in an event.
func (t *sseText) fill(text []byte) {
	if t.hole != nil {
		t.hole.fill, t.hole.text = text, nil
		t.hole = nil
	}
}

// waits returns what the text holds back in an event that waits, as it is written there.
func (t *sseText) waits() []byte {
	if t.hole == nil {
		return nil
	}
	return bytes.Clone(t.rest())
}

// giveBack closes the hole when the next piece of the text was written to out[from:]. What was
// held back and begins that piece unchanged belongs where it came from; else it stays in the
// piece, or went with a secret.
func (t *sseText) giveBack(held, out []byte, from int) []byte {
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
func (t *sseText) end() {
	var out []byte
	if t.plain != nil {
		out = t.plain.Close(nil)
	} else {
		t.json.out = &out
		t.json.close()
	}
	t.fill(out)
}

// give gives up waiting: what may be a secret is taken for one, and so is what follows it.
func (t *sseText) give() {
	e := t.engine()
	if e.rule == nil {
		t.fill(t.rest())
		e.sent = len(e.buf)
	} else {
		t.fill([]byte(Redacted))
		e.reset()
		e.value = value{end: endBare}
	}
	t.json.known.reset()
	t.json.pending.reset()
	t.json.encoded.reset()
	if t.plain != nil {
		t.plain.known.reset()
	}
}

// rest returns what the text holds back, as it is written in an event.
func (t *sseText) rest() []byte {
	if t.plain != nil {
		return t.undecided()
	}
	return appendEscaped(nil, t.undecided())
}
