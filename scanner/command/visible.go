package command

import (
	"strconv"
	"strings"
	"unicode"
)

// Visible reports whether people see a character of a command line, and see it as one of its own: no
// control character, no blank but the plain one, no change of direction, and none of the letters, marks and
// symbols that are printable by their category but have no look.
func Visible(r rune) bool {
	return unicode.IsPrint(r) && r != '\u2800' && !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Reveal is text that people judge by what they see: what is not [Visible] is shown as an escape.
func Reveal(s string) string {
	var b strings.Builder
	for _, r := range s {
		if Visible(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
	}
	return b.String()
}
