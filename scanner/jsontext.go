package scanner

import (
	"unicode/utf16"
	"unicode/utf8"
)

// jsonText redacts the text of JSON strings. The engine sees it decoded; what stays is written
// as it was encoded.
type jsonText struct {
	engine
	out     *[]byte
	raw     []byte  // encoded form of the text that is not decided yet
	lengths []uint8 // its length for each decoded byte; 0 where the byte before has it all
	carried int     // undecided bytes of an earlier string, which come before those
	mute    bool    // what comes is ignored
	direct  bool    // the text is its own encoded form, and nothing was undecided
}

// plain takes text without escapes.
func (t *jsonText) plain(p []byte) {
	if t.mute {
		return
	}
	if len(t.held()) == 0 {
		t.direct = true
		t.step(t, p, false)
		t.direct = false
		for _, b := range t.held() {
			t.push([]byte{b}, 1)
		}
		return
	}
	for i := range p {
		t.raw = append(t.raw, p[i])
		t.lengths = append(t.lengths, 1)
	}
	t.step(t, p, false)
}

// escape takes one escape, or a pair of surrogates, and what it stands for.
func (t *jsonText) escape(raw, text []byte) {
	if t.mute {
		return
	}
	t.push(raw, len(text))
	t.step(t, text, false)
}

func (t *jsonText) push(raw []byte, n int) {
	t.raw = append(t.raw, raw...)
	t.lengths = append(t.lengths, uint8(len(raw)))
	for range n - 1 {
		t.lengths = append(t.lengths, 0)
	}
}

// close ends the text.
func (t *jsonText) close() { t.step(t, nil, true) }

// cut ends the text before what is not decided, which the next event has again.
func (t *jsonText) cut() {
	t.reset()
	t.raw, t.lengths, t.carried = t.raw[:0], t.lengths[:0], 0
}

// suspend ends a string but not the text, which goes on in another string. What is not
// decided is written there.
func (t *jsonText) suspend() {
	t.carried = len(t.held())
	t.raw, t.lengths = t.raw[:0], t.lengths[:0]
}

func (t *jsonText) keep(p []byte) {
	if t.direct {
		*t.out = append(*t.out, p...)
		return
	}
	n := min(t.carried, len(p))
	t.carried -= n
	*t.out = appendEscaped(*t.out, p[:n])
	raw := t.pop(len(p) - n)
	*t.out = append(*t.out, t.raw[:raw]...)
	t.raw = append(t.raw[:0], t.raw[raw:]...)
}

func (t *jsonText) drop(n int) {
	if t.direct {
		return
	}
	carried := min(t.carried, n)
	t.carried -= carried
	t.raw = append(t.raw[:0], t.raw[t.pop(n-carried):]...)
}

// pop forgets n decoded bytes and returns how many encoded ones they are.
func (t *jsonText) pop(n int) int {
	raw := 0
	for _, l := range t.lengths[:n] {
		raw += int(l)
	}
	t.lengths = append(t.lengths[:0], t.lengths[n:]...)
	return raw
}

func (t *jsonText) mark() { *t.out = append(*t.out, Redacted...) }

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
		switch b = lower(b); {
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
