package scan

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/svc-gateway/svc/internal/media"
)

// decoderOf returns what makes readable text of a body that is not scanned string by string.
func decoderOf(k media.Kind) func(string) string {
	if k == media.Form {
		return decodeForm
	}
	return decodeEscapes
}

// decodeEscapes replaces the escape sequences of JSON strings wherever they stand, in documents
// that are incomplete or invalid too. Anything else stays as it is.
func decodeEscapes(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		if s[i] != '\\' || i+1 == len(s) {
			out = append(out, s[i])
			i++
			continue
		}
		switch c := s[i+1]; c {
		case 'n', 'r', 't', 'b', 'f':
			out = append(out, ' ')
			i += 2
		case 'u':
			r, n := decodeUnicode(s[i:])
			if n == 0 {
				out = append(out, s[i])
				i++
				continue
			}
			out = utf8.AppendRune(out, r)
			i += n
		default:
			out = append(out, c)
			i += 2
		}
	}
	return string(out)
}

// decodeUnicode decodes \uXXXX, or a pair of them that is a surrogate pair, at the beginning of
// s. It returns how many bytes that took; 0 means that it is neither.
func decodeUnicode(s string) (rune, int) {
	unit := func(s string) (rune, bool) {
		if len(s) < 6 || s[:2] != `\u` {
			return 0, false
		}
		v, err := strconv.ParseUint(s[2:6], 16, 16)
		return rune(v), err == nil
	}
	r, ok := unit(s)
	if !ok {
		return 0, 0
	}
	if utf16.IsSurrogate(r) {
		if low, ok := unit(s[6:]); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return pair, 12
			}
		}
	}
	return r, 6
}

// decodeForm replaces + and percent escapes; what is none stays as it is.
func decodeForm(s string) string {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '+':
			out = append(out, ' ')
		case s[i] == '%' && i+2 < len(s):
			v, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
			if err != nil {
				out = append(out, '%')
				continue
			}
			out = append(out, byte(v))
			i += 2
		default:
			out = append(out, s[i])
		}
	}
	return string(out)
}
