package words

import (
	"bytes"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// FirstField returns what stands before the first white space of a line.
func FirstField(line []byte) []byte {
	line = bytes.TrimLeft(line, " \t\r")
	for i, b := range line {
		if text.Is(b, text.Space) {
			return line[:i]
		}
	}
	return line
}

// LastField returns what stands after the last white space of a line, but for that at its end.
func LastField(line []byte) []byte {
	line = bytes.TrimRight(line, " \t\r")
	for i := len(line) - 1; i >= 0; i-- {
		if text.Is(line[i], text.Space) {
			return line[i+1:]
		}
	}
	return line
}

// Sentence reports whether words stand behind the first one of a line that hardly any command has.
func Sentence(line []byte) bool {
	for i, word := range bytes.Fields(line) {
		if i > 0 && Articles.HasFold(word) {
			return true
		}
	}
	return false
}
