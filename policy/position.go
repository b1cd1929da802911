package policy

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// Mistake is what is wrong with a rule file, and where.
type Mistake struct {
	File         string
	Line, Column int // from 1; 0 when the file as a whole is meant
	Rule         string
	Message      string
}

// Error returns "file:line:column: rule "name": message".
func (m *Mistake) Error() string {
	var b strings.Builder
	b.WriteString(m.File)
	if m.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", m.Line, m.Column)
	}
	b.WriteString(": ")
	if m.Rule != "" {
		fmt.Fprintf(&b, "rule %q: ", m.Rule)
	}
	b.WriteString(m.Message)
	return b.String()
}

// position finds where in the document the character with the given number (from 0) of a scalar's
// value stands. Quotes, escapes, indentation and the folding of lines separate a value from how it
// is written, but leave its visible characters in their order: they are looked up one by one.
func position(doc []byte, n *yaml.Node, character int) (line, column int) {
	at := offsetOf(doc, n.Line, n.Column)
	if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		if eol := bytes.IndexByte(doc[at:], '\n'); eol >= 0 { // the indicator is no part of the value
			at += eol + 1
		}
	}
	found := at
	i := 0
	for _, want := range n.Value {
		if i > character {
			break
		}
		i++
		if unicode.IsSpace(want) {
			continue
		}
		next := bytes.IndexRune(doc[at:], want)
		if next < 0 {
			return n.Line, n.Column
		}
		found = at + next
		at = found + utf8.RuneLen(want)
	}
	if character >= i { // the end of the value
		found = at
	}
	before := string(doc[:found])
	line = 1 + strings.Count(before, "\n")
	return line, 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
}

// offsetOf is the byte of the document at a line and column.
func offsetOf(doc []byte, line, column int) int {
	at := 0
	for ; line > 1; line-- {
		eol := bytes.IndexByte(doc[at:], '\n')
		if eol < 0 {
			return len(doc)
		}
		at += eol + 1
	}
	for ; column > 1 && at < len(doc); column-- {
		_, size := utf8.DecodeRune(doc[at:])
		at += size
	}
	return at
}
