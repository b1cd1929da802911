package redact

import (
	"bytes"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// endBare ends a value without quotes: at white space, before closing punctuation that white
// space follows, or before the next field of a list.
func endBare(v *value, c *cursor) (int, bool) {
	for {
		for c.i < len(c.data) && c.data[c.i] > ' ' && !is(c.data[c.i], tailing) {
			c.i++
		}
		start := c.i
		v.begun = v.begun || start > 0
		if v.quote != 0 && c.peek() == v.quote {
			return start, true
		}
		if c.peek() <= ' ' {
			return start, !c.short
		}
		closed := v.begun && c.tagged() || c.closes()
		if c.short {
			return start, false
		}
		if closed {
			for v.hash && start < c.i && c.data[start] == '.' {
				start++
			}
			return start, true
		}
	}
}

// endWords ends a value of several words on a line, v.depth after the first.
func endWords(v *value, c *cursor) (int, bool) {
	for {
		end, ok := endBare(v, c)
		if !ok || v.depth == 0 {
			return end, ok
		}
		c.i = end
		c.skip(blank)
		if b := c.peek(); c.short {
			return end, false
		} else if b <= ' ' {
			return end, true
		}
		v.depth--
	}
}

// closes reads a run of punctuation and reports whether a bare value ends before it.
func (c *cursor) closes() bool {
	start := c.i
	for c.i-start < maxRun && is(c.peek(), tailing) {
		c.i++
	}
	run := c.data[start:c.i]
	if len(run) == maxRun {
		return false
	}
	next := c.peek()
	if next <= ' ' {
		return true
	}
	last := run[len(run)-1]
	if i := bytes.IndexAny(run, "\"'`"); i >= 0 && i < len(run)-1 || i > 0 && (run[i-1] == ',' || run[i-1] == ';') {
		return true // the value stood inside a string, or another string follows
	}
	switch last {
	case '<':
		return next == '/'
	case ']':
		return next == '(' // of a link of Markdown
	case ',', ';', '&':
		for i := range maxName {
			switch b := c.at(i); {
			case is(b, name) || b == '.':
			case b == '=' || b == ':':
				return i > 0
			default:
				return false
			}
		}
	}
	return false
}

// endQuoted ends a value before its closing quote, or at the end of the line. In a string
// within strings the quotes carry v.escapes backslashes.
func endQuoted(v *value, c *cursor) (int, bool) {
	for {
		for c.i < len(c.data) && c.data[c.i] != v.quote && c.data[c.i] != '\\' && c.data[c.i] != '\n' {
			c.i++
		}
		start := c.i
		if c.atEnd() {
			return start, c.eof
		}
		n := 0
		for n < maxRun && c.peek() == '\\' {
			c.i++
			n++
		}
		b := c.peek()
		if c.short {
			return start, false
		}
		switch {
		case b == '\n':
			return c.i, true
		case b == v.quote && n < v.escapes:
			return start, true
		case b == v.quote && v.escapes == 0 && n%2 == 0 && c.at(1) == v.quote && is(c.at(2), letter|digit):
			c.i += 2 // it's doubled
		case c.short:
			return start, false
		case b == v.quote && n%(2*v.escapes+2) == v.escapes:
			return c.i - v.escapes, true
		case b == v.quote:
			c.i++
		}
	}
}

// endTriple ends a value before the triple quote that closes it.
func endTriple(v *value, c *cursor) (int, bool) {
	for ; ; c.i++ {
		for c.i < len(c.data) && c.data[c.i] != v.quote {
			c.i++
		}
		start := c.i
		if c.atEnd() {
			return start, c.eof
		}
		if closed := c.at(1) == v.quote && c.at(2) == v.quote; c.short {
			return start, false
		} else if closed {
			return start, true
		}
	}
}

// endDoubled ends a value before the doubled quote that closes it, or at the end of the line.
func endDoubled(v *value, c *cursor) (int, bool) {
	for ; ; c.i++ {
		for c.i < len(c.data) && c.data[c.i] != v.quote && c.data[c.i] != '\n' {
			c.i++
		}
		start := c.i
		if c.atEnd() {
			return start, c.eof
		}
		if next := c.at(1); c.short {
			return start, false
		} else if next == v.quote || c.data[c.i] == '\n' {
			return start, true
		}
	}
}

// endBlock ends the text of a block of YAML before the first line that does not stand further
// right than its key.
func endBlock(v *value, c *cursor) (int, bool) {
	return c.endLines(func(column int) bool { return column <= v.depth })
}

// endList ends a list of YAML before the first line that stands further left than its items, or
// beside them and is none.
func endList(v *value, c *cursor) (int, bool) {
	return c.endLines(func(column int) bool {
		return column < v.depth || column == v.depth && (c.peek() != '-' || c.at(1) != ' ')
	})
}

// endLines ends a value of whole lines before the first of which ends says so, told the column
// where its text begins.
func (c *cursor) endLines(ends func(column int) bool) (int, bool) {
	for {
		for c.i < len(c.data) && c.data[c.i] != '\n' {
			c.i++
		}
		start := c.i
		if c.atEnd() {
			return start, c.eof
		}
		columns := 0
		for c.i-start < 2*maxRun && is(c.peek(), space) {
			if columns++; c.data[c.i] == '\n' {
				columns = 0
			}
			c.i++
		}
		over := c.peek() <= ' ' || ends(columns)
		if c.short {
			return start, false
		} else if over {
			return start, true
		}
	}
}

// endBrackets ends a bracketed value before the bracket that closes it, or at an empty line.
func endBrackets(v *value, c *cursor) (int, bool) {
	for ; ; c.i++ {
		start := c.i
		if c.atEnd() {
			return start, c.eof
		}
		switch b := c.data[c.i]; {
		case b == '\\' && v.inside:
			if c.at(1); c.short {
				return start, false
			}
			c.i = min(c.i+1, len(c.data)-1)
		case b == '"':
			v.inside = !v.inside
		case b == '\n':
			if next := c.at(1); c.short {
				return start, false
			} else if next == '\n' {
				return start, true
			}
		case v.inside:
		case b == '{' || b == '[':
			v.depth++
		case b == '}' || b == ']':
			if v.depth--; v.depth == 0 {
				return start, true
			}
		}
	}
}

// endMarkup ends the content of an XML element, or of a CDATA section where v.quote is ].
func endMarkup(v *value, c *cursor) (int, bool) {
	for ; ; c.i++ {
		for c.i < len(c.data) && c.data[c.i] != '<' && c.data[c.i] != '\n' && c.data[c.i] != v.quote {
			c.i++
		}
		start := c.i
		if c.atEnd() {
			return start, c.eof
		}
		if c.data[start] != ']' {
			return start, true
		}
		if closed := c.at(1) == ']' && c.at(2) == '>'; c.short {
			return start, false
		} else if closed {
			return start, true
		}
	}
}

// endClass ends a value at the first byte that is not of the class.
func endClass(class text.Class) func(*value, *cursor) (int, bool) {
	return func(_ *value, c *cursor) (int, bool) {
		c.skip(class)
		return c.i, !c.short
	}
}

// endDotted ends a value of parts of the class with one or two dots between them.
func endDotted(class text.Class) func(*value, *cursor) (int, bool) {
	return func(_ *value, c *cursor) (int, bool) {
		for {
			for c.i < len(c.data) && is(c.data[c.i], class) && c.data[c.i] != '.' {
				c.i++
			}
			end := c.i
			for c.i-end < 2 && c.peek() == '.' {
				c.i++
			}
			if next := c.peek(); c.short {
				return end, false
			} else if c.i == end || next == '.' || !is(next, class) {
				return end, true
			}
		}
	}
}

// endUserinfo ends the password of a URL before the last @ of its authority. The host stays
// as it is.
func endUserinfo(v *value, c *cursor) (int, bool) {
	for {
		for c.i < len(c.data) && c.data[c.i] != '@' && !is(c.data[c.i], stops) {
			c.i++
		}
		end := c.i
		if c.atEnd() {
			return end, c.eof
		}
		if c.data[end] != '@' {
			return end, true
		}
		for c.i++; c.i-end < maxAuthority && is(c.peek(), host); {
			c.i++
		}
		hostEnd := c.i
		for c.i-end < maxAuthority && c.peek() != '@' && !is(c.peek(), stops) {
			c.i++
		}
		if b := c.peek(); c.short {
			return end, false
		} else if b != '@' || c.i-end == maxAuthority {
			v.skip = hostEnd - end
			return end, true
		}
	}
}

// endArmour ends the body of an armoured key: before the END line and the white space before
// it, or at a byte that no such body has. Its lines may begin with what v.quote says.
func endArmour(v *value, c *cursor) (int, bool) {
	for {
		for c.i < len(c.data) && is(c.data[c.i], pemBody) && c.data[c.i] != '-' && c.data[c.i] != '\\' && !is(c.data[c.i], space) {
			c.i++
		}
		start := c.i
		if c.atEnd() {
			return start, c.eof
		}
		if is(c.data[c.i], quoting) && c.seam() {
			continue
		}
		if c.short {
			return start, false
		}
		if c.i = start; !is(c.data[c.i], pemBody) {
			return start, true
		}
		c.breaks(64)
		if v.quote != 0 {
			c.lead(string(v.quote))
		}
		at := c.i
		end := c.accept("-----end ")
		if c.short {
			return start, false
		}
		if end {
			return start, true
		}
		c.i = max(at, start+1)
	}
}

// seam moves from the quote that ends a line of program text to the next line of the same value, within
// the quotes there, and reports whether there is one: "…\n" +
func (c *cursor) seam() bool {
	quote := c.peek()
	n := 1
	for n < 64 && (is(c.at(n), space) || c.at(n) == '+' || c.at(n) == ',' || c.at(n) == '.' || c.at(n) == '\\' || c.at(n) == '&') {
		n++
	}
	if n == 1 || c.at(n) != quote {
		return false
	}
	n++
	if c.stands(n, "-----END") {
		return false
	}
	for i := range 16 {
		if !is(c.at(n+i), base64s|padding) {
			return false
		}
	}
	c.i += n
	return !c.short
}

// breaks skips at most limit bytes of white space, written out or as \n, \r and \t.
func (c *cursor) breaks(limit int) {
	for start := c.i; c.i-start < limit; {
		switch b := c.peek(); {
		case is(b, space):
			c.i++
		case b == '\\' && (c.at(1) == 'n' || c.at(1) == 'r' || c.at(1) == 't'):
			c.i += 2
		default:
			return
		}
	}
}
