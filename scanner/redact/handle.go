package redact

import (
	"bytes"

	"github.com/svc-gateway/svc/scanner/redact/words"
)

// Handle reports whether a field or member of this name holds a handle: Mcp-Session-Id,
// nextPageToken, X-CSRF-Token. Its name announces no secret then.
func Handle(name string) bool { return words.Handle([]byte(name)) }

// handed reports whether the word, after which closers stand, is the name of something that this
// client is to hand back. line is what stands before the word.
func (w word) handed(line, spelled, closers []byte) bool {
	switch {
	case w.kind != guardedWord:
		return false
	case words.Hidden(line):
		return true
	}
	name := line[len(bytes.TrimRightFunc(line, inIdentifier)):]
	if bytes.HasSuffix(name, []byte("_")) && len(name) == 1 && words.Attribute(line) { // name="_token"
		return true
	}
	name = line[len(line)-len(name) : len(line)+len(spelled)] // the word follows its line
	switch {
	case !words.Handle(name):
		return false
	case !words.HasSuffixFold(name, "id"), len(closers) > 0:
		return true
	}
	before := line[:len(bytes.TrimRightFunc(line, inIdentifier))]
	return bytes.HasSuffix(before, []byte("?")) || bytes.HasSuffix(before, []byte("&")) || bytes.HasSuffix(before, []byte("&amp;"))
}

// shortcut reports whether the word is the attribute of HTML that names a key of the keyboard:
// accesskey="n".
func (w word) shortcut(c *cursor, line []byte) bool {
	if w.spelling != "-key" || !words.HasSuffixFold(line, "access") || follows(line, len("access"), name) || c.peek() != '=' {
		return false
	}
	n := 1
	if is(c.at(n), quoting) {
		n++
	}
	return c.at(n) > ' ' && (is(c.at(n+1), quoting|blank) || c.at(n+1) == '>')
}

func inIdentifier(r rune) bool { return r < 0x80 && is(byte(r), name) }
