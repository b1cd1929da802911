package jsonscan

import (
	"unicode/utf16"
	"unicode/utf8"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// AppendEscaped appends the text as it stands in a JSON string.
func AppendEscaped(dst, text []byte) []byte {
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

// Unescape decodes the escape that begins raw. more says that it is not complete; n is the
// length of the escape, which may be shorter than raw. What is no escape stands for itself.
func Unescape(raw, dst []byte) (decoded []byte, n int, more bool) {
	if len(raw) < 2 {
		return nil, 0, true
	}
	const from, to = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	for i := range len(from) {
		if raw[1] == from[i] {
			return append(dst, to[i]), 2, false
		}
	}
	if raw[1] != 'u' {
		return append(dst, raw[:1]...), 1, false
	}
	r, ok := hex4(raw[2:])
	switch {
	case !ok:
		return append(dst, raw[:1]...), 1, false
	case len(raw) < 6:
		return nil, 0, true
	case !utf16.IsSurrogate(r):
		return utf8.AppendRune(dst, r), 6, false
	}
	low := raw[6:]
	if r < 0xdc00 && (len(low) == 0 || low[0] == '\\' && (len(low) == 1 || low[1] == 'u')) {
		second, ok := hex4(low[min(2, len(low)):])
		if ok && len(low) < 6 {
			return nil, 0, true
		}
		if pair := utf16.DecodeRune(r, second); ok && pair != utf8.RuneError {
			return utf8.AppendRune(dst, pair), 12, false
		}
	}
	return utf8.AppendRune(dst, utf8.RuneError), 6, false
}

// hex4 reads up to four hexadecimal digits and reports whether there is nothing else.
func hex4(p []byte) (r rune, ok bool) {
	for _, b := range p[:min(4, len(p))] {
		switch b = text.Lower(b); {
		case text.Is(b, text.Digit):
			r = r<<4 | rune(b-'0')
		case 'a' <= b && b <= 'f':
			r = r<<4 | rune(b-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// AppendUnescaped appends what the inside of a string of valid JSON stands for. p goes on with its
// closing quote at least.
func AppendUnescaped(dst, p []byte) []byte {
	for {
		n := 0
		for p[n] != '"' && p[n] != '\\' {
			n++
		}
		if dst = append(dst, p[:n]...); p[n] == '"' {
			return dst
		}
		p = p[n:]
		dst, n, _ = Unescape(p, dst)
		p = p[n:]
	}
}
