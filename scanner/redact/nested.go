package redact

import "bytes"

// A string may be JSON itself: the arguments of a tool call, the body of an answer in an answer. It is
// read as such, at any depth, so that its keys are what they are in a document and an escape hides
// nothing there either. Where it turns out to be no JSON, it goes on as text.

// textForm says how the text of a string is read.
type textForm uint8

const (
	unread textForm = iota // nothing but white space has come
	asText
	asJSON
)

// maxNested is how many strings within each other are read as JSON.
const maxNested = 6

// formed takes a part of a text of which is not known that it is no JSON; raw is how it stands in the
// document, nil: as it is.
func (t *jsonText) formed(raw, p []byte) {
	if t.form == unread {
		n := 0
		for n < len(p) && is(p[n], space) {
			n++
		}
		if n == len(p) {
			t.take(raw, p)
			return
		}
		if beginsJSON(p) && t.depth < maxNested && !t.off && t.rule == nil {
			if n > 0 {
				t.text(p[:n])
				p = p[n:]
			}
			t.openInner()
		} else {
			t.form = asText
		}
	}
	if t.form == asJSON {
		p = t.read(raw, p)
	}
	if len(p) > 0 {
		t.take(raw, p)
	}
}

// take takes a part of a text that is no JSON.
func (t *jsonText) take(raw, p []byte) {
	if raw != nil {
		t.escapedText(raw, p)
	} else {
		t.text(p)
	}
}

// beginsJSON reports whether a text may be an object, an array or a string.
func beginsJSON(p []byte) bool {
	p = bytes.TrimLeft(p, " \t\r\n")
	return len(p) > 0 && (p[0] == '{' || p[0] == '[' || p[0] == '"')
}

// openInner begins to read the text as JSON.
func (t *jsonText) openInner() {
	t.form = asJSON
	if t.inner == nil {
		t.inner = &walker{nested: true}
	}
	w := t.inner
	w.reset()
	w.own.know(t.finder.from)
	w.own.watch, w.own.depth = t.watch, t.depth+1
	w.waits, w.own.waits = t.waits, t.waits
	if t.watch != nil {
		w.path = append(w.path, t.watch.path...)
	}
}

// read reads a part of the text as JSON and returns what of it is none.
func (t *jsonText) read(raw, p []byte) []byte {
	w := t.inner
	w.resume(*t.out)
	w.raw = raw
	n := w.walk(p)
	w.raw = nil
	if n < len(p) {
		w.giveLate()
	}
	if *t.out = w.pause(); n == len(p) {
		return nil
	}
	t.form = asText
	t.reset()
	t.follow(w.lead())
	t.encoded.Reset()
	t.text(w.waiting())
	return p[n:]
}

// closeInner ends the JSON in the text.
func (t *jsonText) closeInner() {
	if t.form == asJSON {
		w := t.inner
		w.resume(*t.out)
		w.end()
		w.giveLate()
		*t.out = w.pause()
		w.reset()
	}
}

func (t *jsonText) cutInner() {
	if t.form == asJSON {
		t.inner.reset()
	}
}

// innermost returns the text that is being read: that of the open string of the JSON in the text.
func (t *jsonText) innermost() *jsonText {
	for t.form == asJSON && t.inner.state == inString && t.inner.text != nil {
		t = t.inner.text
	}
	return t
}

// innerRest returns what of the JSON in the text was not written, but for the text of its open string:
// half an escape, a number.
func (t *jsonText) innerRest() []byte {
	if t.form != asJSON {
		return nil
	}
	w := t.inner
	var rest []byte
	if w.state == inString && w.text != nil {
		rest = w.text.innerRest()
	}
	return append(append(rest, w.waiting()...), w.outer.Raw...)
}

// live reports whether a secret may have begun, or the text must be looked at closely.
func (t *jsonText) live() bool {
	if t.form != asJSON {
		return t.engine.live() || len(t.finder.buf) > 0
	}
	w := t.inner
	return len(w.levels) > 0 || w.state != wantComma
}
