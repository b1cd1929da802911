package redact

import (
	"slices"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// jsonText redacts the text of JSON strings. The engine sees it decoded; what stays is written
// as it was encoded.
type jsonText struct {
	engine
	finder  secretFinder
	out     *[]byte
	pending encoded // what the finder holds
	encoded encoded // what the engine holds
	direct  bool    // the text is its own encoded form, and nothing was undecided
	form    textForm
	inner   *walker // of a text that is JSON itself
	depth   int     // strings around the string that the text is
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
		t.pending.each(p)
		t.finder.step((*remainderText)(t), p, false)
	default:
		t.finder.step((*remainderPlain)(t), p, false)
		t.pending.each(t.finder.buf)
	}
}

// unregistered takes text without escapes and without known secrets.
func (t *jsonText) unregistered(p []byte) {
	if len(t.held()) == 0 {
		t.direct = true
		t.step(t, p, false)
		t.direct = false
		t.encoded.each(t.held())
		return
	}
	t.encoded.each(p)
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
		t.pending.push(raw, len(text))
		t.finder.step((*remainderText)(t), text, false)
		return
	}
	t.encoded.push(raw, len(text))
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
	t.pending.reset()
	t.encoded.reset()
}

// suspend ends a string but not the text, which goes on in another string. What is not
// decided is written there.
func (t *jsonText) suspend() {
	if inner := t.innermost(); inner != t {
		inner.suspend()
		return
	}
	t.pending.write(t.finder.buf, t.depth)
	t.encoded.write(t.held(), t.depth)
}

// undecided is what was neither written nor dropped yet.
func (t *jsonText) undecided() []byte { return slices.Concat(t.held(), t.finder.buf) }

// rest is what was neither written nor dropped yet, as it is written.
func (t *jsonText) rest() []byte {
	rest := t.innerRest()
	inner := t.innermost()
	var e encoded
	e.write(inner.undecided(), inner.depth)
	return append(e.raw, rest...)
}

func (t *jsonText) keep(p []byte) {
	if t.direct {
		*t.out = append(*t.out, p...)
		return
	}
	*t.out = append(*t.out, t.encoded.pop(len(p))...)
}

func (t *jsonText) drop(n int) {
	if !t.direct {
		t.encoded.pop(n)
	}
}

func (t *jsonText) mark() { *t.out = append(*t.out, Mark...) }

// remainderText is a text as the sink of what is no known secret.
type remainderText jsonText

func (u *remainderText) keep(p []byte) {
	t := (*jsonText)(u)
	t.pending.move(&t.encoded, len(p))
	t.step(t, p, false)
}

func (u *remainderText) drop(n int) { u.pending.pop(n) }
func (u *remainderText) mark()      { (*jsonText)(u).unregistered([]byte(Mark)) }

// remainderPlain is the same for text that is its own encoded form.
type remainderPlain jsonText

func (u *remainderPlain) keep(p []byte) { (*jsonText)(u).unregistered(p) }
func (u *remainderPlain) drop(int)      {}
func (u *remainderPlain) mark()         { u.keep([]byte(Mark)) }

// encoded is the encoded form of a text.
type encoded struct {
	raw     []byte
	lengths []uint16 // for each decoded byte; 0 where the byte before has it all
}

// push adds the encoded form of n bytes.
func (e *encoded) push(raw []byte, n int) {
	e.raw = append(e.raw, raw...)
	e.lengths = append(e.lengths, uint16(len(raw)))
	for range n - 1 {
		e.lengths = append(e.lengths, 0)
	}
}

// each adds text that is its own encoded form.
func (e *encoded) each(p []byte) {
	for i := range p {
		e.push(p[i:i+1], 1)
	}
}

// write makes it the text as it stands in a JSON string, with depth strings around that one.
func (e *encoded) write(text []byte, depth int) {
	e.reset()
	for _, b := range text {
		raw := appendEscaped(nil, []byte{b})
		for range depth {
			raw = appendEscaped(nil, raw)
		}
		e.push(raw, 1)
	}
}

// pop forgets the first n bytes and returns their encoded form, until the next call.
func (e *encoded) pop(n int) []byte {
	raw := 0
	for _, l := range e.lengths[:n] {
		raw += int(l)
	}
	out := e.raw[:raw]
	e.lengths, e.raw = e.lengths[n:], e.raw[raw:]
	if len(e.lengths) == 0 {
		e.lengths, e.raw = e.lengths[:0], e.raw[:0]
	}
	return out
}

// move moves the first n bytes to the end of another text.
func (e *encoded) move(to *encoded, n int) {
	to.lengths = append(to.lengths, e.lengths[:n]...)
	to.raw = append(to.raw, e.pop(n)...)
}

func (e *encoded) reset() { e.raw, e.lengths = e.raw[:0], e.lengths[:0] }

// appendEscaped appends the text as it stands in a JSON string.
func appendEscaped(dst, text []byte) []byte {
	const hex = "0123456789abcdef"
	for _, b := range text {
		switch {
		case b == '"' || b == '\\':
			dst = append(dst, '\\', b)
		case b == '\n':
			dst = append(dst, '\\', 'n')
		case b == '\r':
			dst = append(dst, '\\', 'r')
		case b == '\t':
			dst = append(dst, '\\', 't')
		case b < ' ':
			dst = append(dst, '\\', 'u', '0', '0', hex[b>>4], hex[b&15])
		default:
			dst = append(dst, b)
		}
	}
	return dst
}

// unescape decodes the escape that begins raw. more says that it is not complete; n is the
// length of the escape, which may be shorter than raw. What is no escape stands for itself.
func unescape(raw []byte, text []byte) (decoded []byte, n int, more bool) {
	if len(raw) < 2 {
		return nil, 0, true
	}
	const from, to = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	for i := range len(from) {
		if raw[1] == from[i] {
			return append(text, to[i]), 2, false
		}
	}
	if raw[1] != 'u' {
		return append(text, raw[:1]...), 1, false
	}
	r, ok := hex4(raw[2:])
	switch {
	case !ok:
		return append(text, raw[:1]...), 1, false
	case len(raw) < 6:
		return nil, 0, true
	case !utf16.IsSurrogate(r):
		return utf8.AppendRune(text, r), 6, false
	}
	low := raw[6:]
	if r < 0xdc00 && (len(low) == 0 || low[0] == '\\' && (len(low) == 1 || low[1] == 'u')) {
		second, ok := hex4(low[min(2, len(low)):])
		if ok && len(low) < 6 {
			return nil, 0, true
		}
		if pair := utf16.DecodeRune(r, second); ok && pair != utf8.RuneError {
			return utf8.AppendRune(text, pair), 12, false
		}
	}
	return utf8.AppendRune(text, utf8.RuneError), 6, false
}

// hex4 reads up to four hexadecimal digits and reports whether there is nothing else.
func hex4(p []byte) (r rune, ok bool) {
	for _, b := range p[:min(4, len(p))] {
		switch b = text.Lower(b); {
		case is(b, digit):
			r = r<<4 | rune(b-'0')
		case 'a' <= b && b <= 'f':
			r = r<<4 | rune(b-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}
