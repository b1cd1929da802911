package words

import (
	"bytes"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

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
	if !text.ContainsFold(line, "name") { // as most
		return false
	}
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
