package inject

import (
	"html"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/internal/text"
)

// unescaped writes a view with its percent, HTML and backslash escapes decoded.
func unescaped(v *view) (view, bool) {
	if !escapes(v.text) {
		return view{}, false
	}
	d, changed := newDraft(v, len(v.text)), false
	for i := 0; i < len(v.text); {
		n := 0
		switch v.text[i] {
		case '%':
			n = d.percent(v.text[i:], i)
		case '&':
			n = d.entity(v.text[i:], i)
		case '\\':
			n = d.backslash(v.text[i:], i)
		}
		if n > 0 {
			i, changed = i+n, true
			continue
		}
		d.write(i, v.text[i])
		i++
	}
	if !changed {
		return view{}, false
	}
	return d.view(scanner.ViewUnescaped, len(v.text), 0), true
}

// escapes reports whether the text seems to have an escape.
func escapes(s string) bool {
	for rest := s; ; {
		i := strings.IndexAny(rest, `%&\`)
		if i < 0 || i+2 >= len(rest) {
			return false
		}
		switch a, b := rest[i+1], rest[i+2]; rest[i] {
		case '%':
			if isHex(a) && isHex(b) {
				return true
			}
		case '&':
			if a == '#' || text.Is(a, text.Letter) && strings.IndexByte(rest[i:min(len(rest), i+longestEntity)], ';') > 0 {
				return true
			}
		default:
			if strings.IndexByte(`nrtNRTxuU"'/`, a) >= 0 {
				return true
			}
		}
		rest = rest[i+1:]
	}
}

func isHex(b byte) bool {
	return text.Is(b, text.Digit) || 'a' <= text.Lower(b) && text.Lower(b) <= 'f'
}

// longestEntity is how long a character reference of HTML may be, in bytes.
const longestEntity = 12

// percent decodes %XX and returns its length, 0 when it is none.
func (d *draft) percent(s string, i int) int {
	if len(s) < 3 {
		return 0
	}
	b, err := strconv.ParseUint(s[1:3], 16, 8)
	if err != nil {
		return 0
	}
	d.write(i, byte(b))
	return 3
}

// entity decodes a character reference of HTML.
func (d *draft) entity(s string, i int) int {
	end := strings.IndexByte(s[:min(len(s), longestEntity)], ';')
	if end < 2 {
		return 0
	}
	text := html.UnescapeString(s[:end+1])
	if text == s[:end+1] {
		return 0
	}
	if text == "\u00a0" {
		text = " "
	}
	d.write(i, []byte(text)...)
	return end + 1
}

// backslash decodes an escape of a string literal.
func (d *draft) backslash(s string, i int) int {
	if len(s) < 2 {
		return 0
	}
	switch s[1] {
	case 'n', 'r', 't', 'N', 'R', 'T':
		d.write(i, '\n')
		return 2
	case '"', '\'', '/':
		d.write(i, s[1])
		return 2
	case 'x':
		if b, ok := hexAt(s, 2, 4); ok {
			d.write(i, byte(b))
			return 4
		}
	case 'u':
		if r, n := unicodeEscape(s); n > 0 {
			d.write(i, utf8.AppendRune(nil, r)...)
			return n
		}
	case 'U':
		if r, ok := hexAt(s, 2, 10); ok {
			d.write(i, utf8.AppendRune(nil, r)...)
			return 10
		}
	}
	return 0
}

// unicodeEscape decodes \uXXXX, two of them that make one character, and \u{X}.
func unicodeEscape(s string) (rune, int) {
	if end := strings.IndexByte(s[:min(len(s), 10)], '}'); strings.HasPrefix(s, `\u{`) && end > 3 {
		r, ok := hexAt(s, 3, end)
		return r, map[bool]int{true: end + 1}[ok]
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
func hexAt(s string, from, to int) (rune, bool) {
	if to > len(s) {
		return 0, false
	}
	n, err := strconv.ParseUint(s[from:to], 16, 32)
	return rune(n), err == nil && n <= utf8.MaxRune
}
