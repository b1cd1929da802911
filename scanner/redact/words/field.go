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

// identifier are the characters of one.
const identifier = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

// Attribute reports whether the line ends with name=" or key=", so that the word is the name of something
// whose value another attribute holds.
func Attribute(line []byte) bool {
	line = bytes.TrimRight(line, identifier+".:")
	if n := len(line); n == 0 || bytes.IndexByte([]byte("\"'`"), line[n-1]) < 0 {
		return false
	}
	line = bytes.TrimRight(line[:len(line)-1], "\\")
	return HasSuffixFold(line, "name=") || HasSuffixFold(line, "key=")
}

// Hidden reports whether a hidden field of a form ends the line: what it has it has for this client.
func Hidden(line []byte) bool {
	tag := line[max(0, bytes.LastIndexByte(line, '<')):]
	return text.HasPrefixFold(tag, "<input") && text.ContainsFold(tag, "hidden")
}

// Naming reports whether a line up to its last identifier says what something is called: name: x, "Name" = "x. The signs
// of a list and of a difference may stand in front, and whatever is in front of an opening bracket or a comma.
func Naming(line []byte) bool {
	line = bytes.TrimRight(line, identifier+".")
	if n := len(line); n > 0 && (line[n-1] == '"' || line[n-1] == '\'') {
		line = line[:n-1]
	}
	line = bytes.TrimRight(line, " \t")
	if n := len(line); n == 0 || line[n-1] != ':' && line[n-1] != '=' {
		return false
	}
	line = bytes.TrimRight(line[:len(line)-1], " \t\"'")
	if !HasSuffixFold(line, "name") {
		return false
	}
	before := bytes.TrimRight(line[:len(line)-len("name")], " \t\"'+-<>|#")
	return len(before) == 0 || bytes.IndexByte([]byte("{,[("), before[len(before)-1]) >= 0
}

// maxSuffix bounds the rest of an identifier.
const maxSuffix = 40

// NamesSecret reports whether an identifier that goes on so after a word for a secret still names one.
func NamesSecret(rest []byte) bool {
	var folded [maxSuffix]byte
	n := 0
	for _, b := range rest {
		if b == '-' || b == '_' || text.Is(b, text.Digit) {
			continue
		}
		if n == len(folded) {
			return false
		}
		folded[n] = text.Lower(b)
		n++
	}
	return n == 0 || Suffixes.Has(folded[:n])
}
