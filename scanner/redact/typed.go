package redact

import "bytes"

// maxType is how long the type between a name and its value may be, in bytes.
const maxType = 64

// typed moves over what stands between a name and its value in languages with types, up to a string.
func (c *cursor) typed(blanks int) bool {
	if blanks > 0 {
		return c.declared() || c.accessors()
	}
	return c.dimension() || c.optional()
}

// declared moves over a type that stands between a name and its value as in Go, var password string = "x",
// and the equals sign behind it, and reports whether a string follows.
func (c *cursor) declared() bool {
	start := c.i
	for _, s := range [...]string{"string ", "*string ", "[]byte ", "[]rune ", "any "} {
		if c.accept(s) && c.initialized() {
			return true
		}
		c.i = start
	}
	return false
}

// annotated moves over a type that stands between a colon and a value, and the equals sign behind it, and
// reports whether a string follows: password: &'static str = "x", : Optional[str] = "x", : string | null = "x".
// A name alone is no such type, as it may be the secret.
func (c *cursor) annotated() bool {
	start, depth, plain := c.i, 0, true
	for c.i-start < maxType && !c.short {
		b := c.peek()
		switch {
		case is(b, letter) || b == '_' || b == '.' || b == '?' || is(b, digit) && depth > 0:
		case b == '&' && c.i == start, b == '|' && c.i > start, b == '*' && c.i == start, b == '\'' && c.i == start+1 && is(c.at(1), letter):
			plain = false
		case b == ' ' && c.i > start && (depth > 0 || c.at(1) == '|' || c.data[c.i-1] == '|' || c.data[start] == '&' && bytes.IndexByte(c.data[start:c.i], ' ') < 0 && is(c.at(1), letter)):
		case (b == ',' || b == ';' || b == ':') && depth > 0:
		case b == '<' || b == '[':
			depth++
			plain = false
		case (b == '>' || b == ']') && depth > 0:
			depth--
		default:
			if depth == 0 && !plain && c.initialized() {
				return true
			}
			c.i = start
			return false
		}
		c.i++
	}
	c.i = start
	return false
}

// optional moves over the mark of a member that may be missing, the colon and the type: password?: string = "x".
func (c *cursor) optional() bool {
	start := c.i
	if b := c.peek(); (b == '?' || b == '!') && c.at(1) == ':' {
		c.i += 2
		if c.skip(blank); c.annotated() {
			return true
		}
		if c.skip(letter); c.initialized() {
			return true
		}
	}
	c.i = start
	return false
}

// initialized moves over an equals sign behind which a string stands.
func (c *cursor) initialized() bool {
	c.skip(blank)
	if !c.accept("=") {
		return false
	}
	c.skip(blank)
	return c.opens()
}

// opens reports whether a string begins here, perhaps with a letter before it or within a call that makes a
// value of it.
func (c *cursor) opens() bool {
	start := c.i
	c.converted()
	for c.i-start < maxType && c.peek() == '\\' {
		c.i++
	}
	b := c.peek()
	found := is(b, quoting) || bytes.IndexByte([]byte("bBrRuUfF@$"), b) >= 0 && b != 0 && is(c.at(1), quoting)
	c.i = start
	return found && !c.short
}

// conversions make a value of a string, in languages where a string alone is none.
var conversions = [...]string{
	"string::from(", "[]byte(", "[]rune(", "some(", "new string(", "secretstr(", "secret::new(", "secret::from(", "secretstring::new(", "secretstring::from(", "secretstring(",
	"aws.string(", "pulumi.string(", "pulumi.tosecret(pulumi.string(", "proto.string(", "pointer.to(", "ptr.to(", "ptr(", "to.ptr(", "box::from(", "cow::from(", "cstring::new(",
	"std::string(", "string(", "bytes(", "str(", "optional.of(", "buffer.from(", "data(", "*b",
}

// converted moves over the call of one of them before a string.
func (c *cursor) converted() bool {
	start := c.i
	for _, s := range conversions {
		if c.accept(s) {
			if b := c.peek(); is(b, quoting) || b == '\\' || (b == 'b' || b == 'B') && is(c.at(1), quoting) {
				return true
			}
			c.i = start
			return false
		}
		if c.short {
			c.i = start
			return false
		}
	}
	return false
}

// calls reports whether such a call stands here.
func (c *cursor) calls() bool {
	start := c.i
	found := c.converted()
	c.i = start
	return found
}

// dimension moves over the size of an array of characters: password[32] = "x".
func (c *cursor) dimension() bool {
	start := c.i
	if c.accept("[") {
		c.skip(digit)
		if c.accept("]") && c.initialized() {
			return true
		}
	}
	c.i = start
	return false
}

// accessors moves over those of a property: Password { get; set; } = "x".
func (c *cursor) accessors() bool {
	start := c.i
	for _, s := range [...]string{"{ get; set; }", "{ get; init; }", "{ get; private set; }", "{ get; }"} {
		if c.accept(s) && c.initialized() {
			return true
		}
		c.i = start
	}
	return false
}
