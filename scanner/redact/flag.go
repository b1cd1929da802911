package redact

import "github.com/svc-gateway/svc/scanner/redact/flags"

// flagHead reads the value of an option of a command line: the name of a user and a password, or a password alone.
func flagHead(c *cursor, before []byte) value {
	o := flags.Of(lastLine(before))
	if apart := is(c.peek(), blank) || c.peek() == '='; apart && !o.Apart || !apart && !o.Attached {
		return value{}
	}
	c.skip(blank)
	c.accept("=")
	v := c.opened()
	for start := c.i; o.Login != 0; c.i++ {
		if c.peek() == o.Login && !marks.Contains(c.data[start:c.i]) {
			c.i++
			break
		}
		if c.i-start == maxName || !is(c.peek(), userinfo) && c.peek() != '@' && c.peek() != '\\' {
			return value{}
		}
	}
	if b := c.peek(); c.short || b <= ' ' || b == '-' || b == v.quote || b == '/' || c.reference() || c.masked() {
		return value{}
	}
	return v
}
