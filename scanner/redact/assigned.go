package redact

import (
	"bytes"

	"github.com/svc-gateway/svc/scanner/redact/words"
)

// binding is what is known about a value when it is about to be read.
type binding struct {
	word     word
	line     []byte // before the word
	closers  []byte // quotes and brackets after it
	proper   bool   // the word has a capital
	colon    bool   // prose may follow
	below    bool   // the value may stand on a line of its own
	compares bool   // it is compared with, not assigned
	spaced   bool   // blanks stand before it
	command  bool   // the line configures a device
}

// assigned reads what follows an assignment.
func (c *cursor) assigned(a binding) value {
	blanks := c.skip(blank)
	a.spaced = blanks > 0
	c.safe = c.i
	if c.short {
		return value{}
	}
	if a.colon && c.annotated() || !a.command && c.calls() {
		c.safe = c.i
		return c.secret(a)
	}
	if c.short {
		return value{}
	}
	if blanks > 0 && c.tag() {
		c.safe = c.i
	}
	if c.short {
		return value{}
	}
	if b := c.peek(); (b == '|' || b == '>') && blanks > 0 {
		if c.block() {
			return c.indented(a.line)
		}
		if c.short {
			return value{}
		}
	}
	if b := c.peek(); b == '\n' || b == '\r' {
		c.accept("\r")
		c.accept("\n")
		start := c.i
		c.skip(blank)
		c.safe = c.i
		if b := c.peek(); !a.below {
			return value{}
		} else if b != '"' && b != '\'' && b != '{' && b != '[' {
			if c.i = start; !a.colon {
				return value{}
			}
			return c.alone(a)
		}
	}
	start := c.i
	for c.i-start < maxRun && (c.peek() == '*' || c.peek() == '_' || c.peek() == '`') {
		c.i++ // **Password:** x
	}
	if c.i > start && (!is(c.peek(), blank) || c.skip(blank) == 0) {
		c.i = start
	}
	c.safe = c.i
	people := a.word.kind == publicWord && a.colon && a.proper && blanks > 0 // Community: people
	for range 6 {
		start := c.i
		if b := c.peek(); c.short || is(b, quoting) || b == '\\' || b == '[' || b == '{' || !a.command && c.calls() {
			break
		}
		t := c.token()
		if c.short && t.surely() && !people {
			c.i, c.short = start, false // no more of the token is needed to know
			break
		}
		if c.short {
			return value{}
		}
		if words.Types.HasFold(t.word()) && c.initial() {
			c.safe = c.i
			continue
		}
		if people && !t.mixed() {
			return value{}
		}
		if words.Literals.HasFold(t.word()) || words.Types.HasFold(t.word()) || a.colon && blanks > 0 && words.Functions.Has(t.text()) {
			return value{}
		}
		if c.i = start; !t.marker() || !c.another(t) {
			break
		}
		c.safe = c.i
	}
	return c.secret(a)
}

// initial moves over the equals sign that follows a type: password: str = "x".
func (c *cursor) initial() bool {
	start := c.i
	c.skip(blank)
	if c.accept("=") && c.peek() != '=' {
		c.skip(blank)
		return c.peek() > ' '
	}
	c.i = start
	return false
}

// tag moves over a tag or anchor of YAML and reports whether there was one.
func (c *cursor) tag() bool {
	start := c.i
	if b := c.peek(); b != '!' && b != '&' {
		return false
	}
	for c.i++; c.i-start < maxName && (is(c.peek(), name) || c.peek() == '!' || c.peek() == ':'); {
		c.i++
	}
	if c.skip(blank) > 0 && c.peek() > ' ' {
		return true
	}
	c.i = start
	return false
}

// block moves over the header of a block of YAML up to the end of its line and reports whether
// there was one.
func (c *cursor) block() bool {
	start := c.i
	for c.i++; c.peek() == '+' || c.peek() == '-' || is(c.peek(), digit); c.i++ {
	}
	c.skip(blank)
	c.accept("\r")
	if c.peek() == '\n' {
		return true
	}
	c.i = start
	return false
}

// indented reads up to the text of a block, whose lines stand further right than the line of
// its key.
func (c *cursor) indented(line []byte) value {
	key := len(line) - len(bytes.TrimLeft(line, " "))
	for c.i < maxHead/2 && c.peek() == '\n' {
		c.i++
		c.safe = c.i
		if n := c.skip(blank); n <= key && c.peek() > ' ' {
			return value{}
		}
	}
	c.safe = c.i
	if c.peek() <= ' ' || c.pem() {
		return value{}
	}
	return value{end: endBlock, depth: key}
}

// element reads the content of <password>x</password>. Where a blank or punctuation follows
// the tag it is a placeholder: --password <password> --user <user>:<password>@<host>.
func (c *cursor) element() value {
	v := value{end: endMarkup, quote: '\n'}
	c.i++
	if start := c.i; c.peek() == '\n' || c.peek() == '\r' {
		c.safe = c.i
		if n := c.skip(space); n < maxName && c.guarded() {
			return value{end: endBare} // on a line of its own
		}
		c.i = start
	}
	if c.accept("<![cdata[") {
		v.quote = ']'
	}
	c.safe = c.i
	if b := c.peek(); b <= ' ' || b == '@' || b == '/' || b == '=' || is(b, tailing) {
		return value{}
	}
	return v
}

// secret reads the opening quote or bracket of a secret and tells how it ends. An empty one,
// a placeholder, a reference, a call and the name of a variable are not secrets.
func (c *cursor) secret(a binding) value {
	if !a.command && c.converted() {
		c.safe = c.i
	}
	if c.i+1 < len(c.data) && is(c.at(1), quoting) && bytes.IndexByte([]byte("bBrRuUfF@$"), c.peek()) >= 0 {
		c.i++ // b"x"
	}
	escapes := 0
	for escapes < maxRun && c.at(escapes) == '\\' {
		escapes++
	}
	b := c.at(escapes)
	switch {
	case is(b, quoting):
		return c.quoted(a, b, escapes)
	case b <= ' ' || c.pem() || a.compares:
		return value{}
	case c.reference() || c.masked() || c.standIn():
		return value{}
	case a.word.kind == guardedWord || a.word.kind == shortWord && !a.owned():
		if !a.plausible(c) {
			return value{}
		}
	case escapes == 0 && (b == '[' || b == '{'):
		c.i++
		start := c.i
		c.skip(space)
		if b := c.peek(); b == ']' || b == '}' {
			return value{}
		}
		c.i = start
		return value{end: endBrackets, depth: 1}
	case !a.command && c.program(a):
		return value{}
	}
	if start := c.i; is(c.peek(), tailing) {
		if c.closes() {
			return value{}
		}
		c.i = start
	}
	if b == '$' && a.command {
		return value{end: endBare, hash: true}
	}
	if words.HasSuffixFold(bytes.TrimRightFunc(a.line, inName), "${") {
		return value{end: endBare, quote: '}'} // ${PASSWORD:-x}
	}
	return value{end: endBare}
}

// inside reports whether the word stands in a string with such quotes.
func (a binding) inside(quote byte) bool {
	return (bytes.Count(a.line, []byte{quote})+bytes.Count(a.closers, []byte{quote}))%2 == 1
}

// quoted reads the opening quote, all of a doubled or triple one.
func (c *cursor) quoted(a binding, quote byte, escapes int) value {
	if b := c.at(escapes + 1); bytes.IndexByte([]byte("),;]}"), b) >= 0 && b != 0 && a.inside(quote) {
		return value{} // it closes the string that the word stands in
	}
	c.i += escapes + 1
	c.safe = c.i
	v, lines := value{end: endQuoted, quote: quote, escapes: escapes}, false
	if escapes == 0 && c.peek() == quote {
		switch b := c.at(1); {
		case b == quote:
			c.i += 2
			v.end, lines = endTriple, true
		case b > ' ' && !is(b, tailing) && quote == '"':
			c.i++ // ""x"" in a field of CSV
			v.end = endDoubled
		default:
			return value{}
		}
		c.safe = c.i
	}
	next := 0
	for next < escapes && c.at(next) == '\\' {
		next++
	}
	if c.atEnd() || c.at(next) == quote || !lines && c.peek() < ' ' && c.peek() != '\t' || c.pem() || c.reference() || c.masked() || c.standIn() || !a.plausible(c) {
		return value{}
	}
	return v
}
