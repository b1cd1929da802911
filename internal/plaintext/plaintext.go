// Package plaintext makes text that can be shown of what programs print.
//
//	text := plaintext.Clean(plaintext.Whole(output[:limit]))
//
// Its functions are safe for concurrent use.
package plaintext

import (
	"strings"
	"unicode/utf8"
)

// Clean makes text of any bytes: what is not UTF-8 and what a terminal would obey (control characters
// but line feed and tab) becomes U+FFFD, a carriage return before a line feed goes.
func Clean(b []byte) string {
	s := strings.ReplaceAll(strings.ToValidUTF8(string(b), "\uFFFD"), "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return utf8.RuneError
		}
		return r
	}, s)
}

// Whole returns b without an incomplete character at its end.
func Whole(b []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(b); i++ {
		if c := b[len(b)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-i:]) {
				return b[:len(b)-i]
			}
			break
		}
	}
	return b
}
