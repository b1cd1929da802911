package redact

// What announces these says whose they are, in the open. What follows is the secret.

// discordHead reads the rest of the time in such a token, and the beginning of its code.
func discordHead(c *cursor, _ []byte) value {
	for i := range 5 {
		if !is(c.at(i), base64u) {
			return value{}
		}
	}
	if c.at(5) != '.' || c.stands(6, Mark) {
		return value{}
	}
	for i := range 27 {
		if !is(c.at(6+i), base64u) {
			return value{}
		}
	}
	return value{end: endDotted(base64u)}
}

// pairHead reads what follows a heading for a name and a password: both of them, with a slash between.
func pairHead(c *cursor, _ []byte) value {
	c.skip(blank)
	if b := c.peek(); b != ':' && b != '=' {
		return value{}
	}
	c.i++
	c.skip(blank)
	c.safe = c.i
	start := c.i
	for c.peek() != '/' {
		if b := c.peek(); c.i-start == maxName || !is(b, name) && b != '.' && b != '@' {
			return value{}
		}
		c.i++
	}
	if c.i == start || c.short {
		return value{}
	}
	c.i++
	c.safe = c.i
	if !c.peculiar() {
		return value{}
	}
	return value{end: endBare}
}

// argumentHead reads the value of an argument, whatever it looks like.
func argumentHead(c *cursor, _ []byte) value {
	v := c.opened()
	if b := c.peek(); c.short || b <= ' ' || b == v.quote || is(b, tailing) || c.reference() || c.masked() {
		return value{}
	}
	return v
}

// opened begins a value, in quotes or bare.
func (c *cursor) opened() value {
	v := value{end: endBare}
	if is(c.peek(), quoting) {
		v = value{end: endQuoted, quote: c.peek()}
		c.i++
	}
	c.safe = c.i
	return v
}

// quotedHead is argumentHead for what must stand in quotes.
func quotedHead(c *cursor, before []byte) value {
	if is(c.peek(), quoting) {
		return argumentHead(c, before)
	}
	return value{}
}
