package redact

import (
	"bytes"

	"github.com/svc-gateway/svc/scanner/redact/words"
)

// alone reads a value on a line of its own below its word, at most one empty line between them:
//
//	password:
//	  hunter2
//
// The lines below a key of YAML are its value. Below anything else, and in a list, the first of
// them must be a single word that looks like a secret.
func (c *cursor) alone(a binding) value {
	column := c.skip(blank)
	if b := c.peek(); b == '\n' || b == '\r' {
		c.accept("\r")
		c.accept("\n")
		column = c.skip(blank)
	}
	key, yaml := a.key()
	listed := yaml && column >= key && c.accept("- ")
	if listed {
		c.skip(blank)
	}
	c.safe = c.i
	start := c.i
	t := c.token()
	if c.short || len(t.raw) == 0 {
		return value{}
	}
	c.i = start
	more := c.another(t)
	if c.short {
		return value{}
	}
	if yaml && column > key && !listed && words.Holders.Has(t.text()) && string(t.raw[len(t.core):]) == ":" {
		a.line = append(bytes.Repeat([]byte(" "), column), t.core...) // so that it is the key
		c.i = start + len(t.raw)
		return c.assigned(a)
	}
	if more || t.url() || words.Functions.Has(t.text()) || words.Literals.HasFold(t.word()) || words.Types.HasFold(t.word()) {
		return value{}
	}
	plain := yaml && column > key && !listed
	if last := t.raw[len(t.raw)-1]; last == ':' || last == ';' || t.raw[0] == '#' || is(t.raw[0], quoting) || !t.secret() && (!plain || !is(t.raw[0], letter|digit)) {
		return value{} // a key, a statement, a comment, a block of code
	}
	c.i = start
	v := c.secret(a)
	if listed && v.end != nil && v.quote == 0 {
		v = value{end: endList, depth: column}
	}
	return v
}

// key returns the column of a key of YAML. It is one if it begins its line or an item of a list.
func (a binding) key() (column int, ok bool) {
	name := bytes.TrimLeft(a.line, " -")
	if len(a.line)+len(a.word.spelling) >= lookBehind || len(a.closers) > 0 || !a.colon {
		return 0, false
	}
	for _, b := range name {
		if !is(b, letter|digit) && b != '_' && b != '-' && b != '.' {
			return 0, false
		}
	}
	return len(a.line) - len(name), true
}
