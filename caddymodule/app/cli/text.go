package cli

import "strings"

// Printable takes out what could drive the terminal: the text comes from a model and from what
// it has read.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (r < ' ' || r >= 0x7f && r < 0xa0) {
			return -1
		}
		return r
	}, s)
}

// OneLine is text that is [Printable], on one line.
func OneLine(s string) string {
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(Printable(s))
}
