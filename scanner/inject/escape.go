package inject

import (
	"html"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/internal/text"
)

// unescape looks at a part of a view, whose planes are given, with its percent, HTML and backslash escapes decoded.
func (s *scan) unescape(v *view, p span, bytes *planes) {
	d := s.draft(v, p)
	done := p.start // what stands before has been written
	for i := bytes.next(escapes, p.start); i < p.end; i = bytes.next(escapes, i) {
		var n int
		var decoded [utf8.UTFMax]byte
		out := decoded[:0]
		switch rest := v.text[i:p.end]; v.text[i] {
		case '%':
			out, n = percent(out, rest)
		case '&':
			out, n = entity(out, rest)
		default:
			out, n = backslash(out, rest)
		}
		if n == 0 {
			i++
			continue
		}
		d.copy(v.text, done, i)
		d.standFor(i)
		d.text = append(d.text, out...)
		i += n
		done = i
	}
	if done == p.start {
		return
	}
	d.copy(v.text, done, p.end)
	s.look(d.view(scanner.ViewUnescaped, v, p, 0))
}

// isEscape reports whether the text begins with what seems to be an escape.
func isEscape(s string) bool {
	if len(s) < 3 {
		return false
	}
	switch a, b := s[1], s[2]; s[0] {
	case '%':
		return isHex(a) && isHex(b)
	case '&':
		return a == '#' || text.Is(a, text.Letter) && strings.IndexByte(s[:min(len(s), longestEntity)], ';') > 0
	default:
		return strings.IndexByte(`nrtNRTxuU"'/`, a) >= 0
	}
}

func isHex(b byte) bool {
	return text.Is(b, text.Digit) || 'a' <= text.Lower(b) && text.Lower(b) <= 'f'
}

// longestEntity is how long a character reference of HTML may be, in bytes.
const longestEntity = 12

// percent decodes %XX and returns its length, 0 when it is none.
func percent(out []byte, s string) ([]byte, int) {
	b, ok := hexAt(s, 1, 3)
	if !ok {
		return out, 0
	}
	return append(out, byte(b)), 3
}

// entity decodes a character reference of HTML.
func entity(out []byte, s string) ([]byte, int) {
	end := strings.IndexByte(s[:min(len(s), longestEntity)], ';')
	if end < 2 {
		return out, 0
	}
	switch s[1:end] { // the most frequent ones
	case "lt":
		return append(out, '<'), end + 1
	case "gt":
		return append(out, '>'), end + 1
	case "amp":
		return append(out, '&'), end + 1
	case "quot":
		return append(out, '"'), end + 1
	case "nbsp":
		return append(out, ' '), end + 1
	}
	if s[1] != '#' && !text.Is(s[1], text.Letter) {
		return out, 0
	}
	text := html.UnescapeString(s[:end+1])
	switch text {
	case s[:end+1]:
		return out, 0
	case "\u00a0":
		text = " "
	}
	return append(out, text...), end + 1
}

// backslash decodes an escape of a string literal.
func backslash(out []byte, s string) ([]byte, int) {
	if len(s) < 2 {
		return out, 0
	}
	switch s[1] {
	case 'n', 'r', 't', 'N', 'R', 'T':
		return append(out, '\n'), 2
	case '"', '\'', '/':
		return append(out, s[1]), 2
	case '\\': // of a literal in a literal, whatever the depth
		if n := len(s) - len(strings.TrimLeft(s, `\`)); n < len(s) && strings.IndexByte(`"'/`, s[n]) >= 0 {
			return append(out, s[n]), n + 1
		}
	case 'x':
		if b, ok := hexAt(s, 2, 4); ok {
			return append(out, byte(b)), 4
		}
	case 'u':
		if r, n := unicodeEscape(s); n > 0 {
			return utf8.AppendRune(out, r), n
		}
	case 'U':
		if r, ok := hexAt(s, 2, 10); ok {
			return utf8.AppendRune(out, r), 10
		}
	}
	return out, 0
}

// unicodeEscape decodes \uXXXX, two of them that make one character, and \u{X}.
func unicodeEscape(s string) (rune, int) {
	if end := strings.IndexByte(s[:min(len(s), 10)], '}'); strings.HasPrefix(s, `\u{`) && end > 3 {
		if r, ok := hexAt(s, 3, end); ok {
			return r, end + 1
		}
		return 0, 0
	}
	r, ok := hexAt(s, 2, 6)
	if !ok {
		return 0, 0
	}
	if utf16.IsSurrogate(r) && strings.HasPrefix(s[6:], `\u`) {
		if low, ok := hexAt(s, 8, 12); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return pair, 12
			}
		}
	}
	return r, 6
}

// hexAt reads a number from s[from:to].
func hexAt(s string, from, to int) (r rune, ok bool) {
	if to > len(s) || from == to {
		return 0, false
	}
	n := 0
	for _, b := range []byte(s[from:to]) {
		if !isHex(b) {
			return 0, false
		}
		if n = n<<4 | int(digitOf(b)); n > utf8.MaxRune {
			return 0, false
		}
	}
	return rune(n), true
}

// digitOf returns what a digit of base 16 is worth.
func digitOf(b byte) byte {
	if b <= '9' {
		return b - '0'
	}
	return text.Lower(b) - 'a' + 10
}
