package redact

import "github.com/svc-gateway/svc/scanner/redact/typed"

// typed moves over what stands between a name and its value in languages with types, up to a string.
func (c *cursor) typed(blanks int) bool {
	return c.move(typed.Between(c.data[c.i:], c.eof, blanks > 0))
}

// annotated moves over a type behind a colon, and the equals sign before a string.
func (c *cursor) annotated() bool { return c.move(typed.Annotation(c.data[c.i:], c.eof)) }

// converted moves over the beginning of a call that makes a value of a string.
func (c *cursor) converted() bool { return c.move(typed.Conversion(c.data[c.i:], c.eof)) }

// calls reports whether such a call stands here.
func (c *cursor) calls() bool {
	start := c.i
	found := c.converted()
	c.i = start
	return found
}

func (c *cursor) move(n int, short bool) bool {
	c.i += n
	c.short = c.short || short
	return n > 0
}
