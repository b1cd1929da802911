package tools

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// clean makes text of any bytes: what is not UTF-8 and what a terminal would obey
// (control characters but line feed and tab) becomes U+FFFD, a carriage return
// before a line feed goes.
func clean(b []byte) string {
	s := strings.ReplaceAll(strings.ToValidUTF8(string(b), "\uFFFD"), "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return utf8.RuneError
		}
		return r
	}, s)
}

// whole returns b without an incomplete character at its end.
func whole(b []byte) []byte {
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

// noted returns text with a note on a line of its own at its end.
func noted(text, format string, args ...any) string {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + "[" + fmt.Sprintf(format, args...) + "]\n"
}
