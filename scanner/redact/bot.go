package redact

// Tokens of bots say in front whose they are, in the open. What follows is the secret.

// numbered reports whether the text ends with a number of at least six digits, the id of a bot.
func numbered(p []byte) bool {
	n := 0
	for n < len(p) && n < 12 && is(p[len(p)-1-n], digit) {
		n++
	}
	return n >= 6
}

// discordID reports whether the text ends with the base64 of the id of a user of Discord: 17 digits at
// least, so that it begins with M, N or O.
func discordID(p []byte) bool {
	n := 0
	for n < len(p) && n < 32 && is(p[len(p)-1-n], letter|digit) {
		n++
	}
	if n < 23 || n > 28 {
		return false
	}
	first := p[len(p)-n]
	return first == 'M' || first == 'N' || first == 'O'
}

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

// argumentHead reads the value of an argument, whatever it looks like.
func argumentHead(c *cursor, _ []byte) value {
	v := value{end: endBare}
	if is(c.peek(), quoting) {
		v = value{end: endQuoted, quote: c.peek()}
		c.i++
	}
	c.safe = c.i
	if b := c.peek(); c.short || b <= ' ' || b == v.quote || is(b, tailing) || c.reference() || c.masked() {
		return value{}
	}
	return v
}
