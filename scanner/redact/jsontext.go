package redact

import (
	"slices"

	"github.com/svc-gateway/svc/scanner/jsonscan"
)

// jsonText redacts the text of JSON strings. The engine sees it decoded; what stays is written
// as it was encoded.
type jsonText struct {
	engine
	finder  secretFinder
	out     *[]byte
	pending jsonscan.Encoded // what the finder holds
	encoded jsonscan.Encoded // what the engine holds
	direct  bool             // the text is its own encoded form, and nothing was undecided
	form    textForm
	inner   *walker // of a text that is JSON itself
	depth   int     // strings around the string that the text is
	waits   bool    // so may a value in such JSON, for the name that comes behind it
}

// plain takes text without escapes.
func (t *jsonText) plain(p []byte) {
	if t.form == asText {
		t.text(p)
		return
	}
	t.formed(nil, p)
}

// text takes text without escapes that is no JSON.
func (t *jsonText) text(p []byte) {
	switch {
	case !t.finder.active():
		t.unregistered(p)
	case len(t.finder.buf) > 0:
		t.pending.Each(p)
		t.finder.step((*remainderText)(t), p, false)
	default:
		t.finder.step((*remainderPlain)(t), p, false)
		t.pending.Each(t.finder.buf)
	}
}

// unregistered takes text without escapes and without known secrets.
func (t *jsonText) unregistered(p []byte) {
	if len(t.held()) == 0 {
		t.direct = true
		t.step(t, p, false)
		t.direct = false
		t.encoded.Each(t.held())
		return
	}
	t.encoded.Each(p)
	t.step(t, p, false)
}

// escape takes one escape, or a pair of surrogates, and what it stands for.
func (t *jsonText) escape(raw, text []byte) {
	if t.form == asText {
		t.escapedText(raw, text)
		return
	}
	t.formed(raw, text)
}

// escapedText takes an escape of a text that is no JSON.
func (t *jsonText) escapedText(raw, text []byte) {
	if t.finder.active() {
		t.pending.Push(raw, len(text))
		t.finder.step((*remainderText)(t), text, false)
		return
	}
	t.encoded.Push(raw, len(text))
	t.step(t, text, false)
}

// close ends the text.
func (t *jsonText) close() {
	t.closeInner()
	t.form = unread
	if t.finder.active() {
		t.finder.step((*remainderText)(t), nil, true)
	}
	t.finder.reset()
	t.step(t, nil, true)
}

// cut ends the text before what is not decided.
func (t *jsonText) cut() {
	t.cutInner()
	t.form = unread
	t.reset()
	t.finder.reset()
	t.pending.Reset()
	t.encoded.Reset()
}

// suspend ends a string but not the text, which goes on in another string. What is not
// decided is written there.
func (t *jsonText) suspend() {
	if inner := t.innermost(); inner != t {
		inner.suspend()
		return
	}
	t.pending.Write(t.finder.held(), t.depth)
	t.encoded.Write(t.held(), t.depth)
}

// undecided is what was neither written nor dropped yet.
func (t *jsonText) undecided() []byte { return slices.Concat(t.held(), t.finder.held()) }

// rest is what was neither written nor dropped yet, as it is written.
func (t *jsonText) rest() []byte {
	var e jsonscan.Encoded
	inner := t.innermost()
	e.Write(inner.undecided(), inner.depth)
	if t.form != asJSON {
		return e.Raw
	}
	return slices.Concat(t.kept(), e.Raw, t.innerRest())
}

func (t *jsonText) keep(p []byte) {
	if t.direct {
		*t.out = append(*t.out, p...)
		return
	}
	*t.out = append(*t.out, t.encoded.Pop(len(p))...)
}

func (t *jsonText) drop(n int) {
	if !t.direct {
		t.encoded.Pop(n)
	}
}

func (t *jsonText) mark() { *t.out = append(*t.out, Mark...) }

// remainderText is a text as the sink of what is no known secret.
type remainderText jsonText

func (u *remainderText) keep(p []byte) {
	t := (*jsonText)(u)
	t.pending.Move(&t.encoded, len(p))
	t.step(t, p, false)
}

func (u *remainderText) drop(n int) { u.pending.Pop(n) }
func (u *remainderText) mark()      { (*jsonText)(u).unregistered([]byte(Mark)) }

// remainderPlain is the same for text that is its own encoded form.
type remainderPlain jsonText

func (u *remainderPlain) keep(p []byte) { (*jsonText)(u).unregistered(p) }
func (u *remainderPlain) drop(int)      {}
func (u *remainderPlain) mark()         { u.keep([]byte(Mark)) }
