package typed

import (
	"bytes"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// maxType is how long the type between a name and its value may be, in bytes.
const maxType = 64

// declared moves over a type that stands between a name and its value as in Go, var password string = "x",
// and the equals sign behind it, and reports whether a string follows.
func (c *reader) declared() bool {
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
func (c *reader) annotated() bool {
	start, depth, plain := c.i, 0, true
	for c.i-start < maxType && !c.short {
		b := c.peek()
		switch {
		case text.Is(b, text.Letter) || b == '_' || b == '.' || b == '?' || text.Is(b, text.Digit) && depth > 0:
		case b == '&' && c.i == start, b == '|' && c.i > start, b == '*' && c.i == start, b == '\'' && c.i == start+1 && text.Is(c.at(1), text.Letter):
			plain = false
		case b == ' ' && c.i > start && (depth > 0 || c.at(1) == '|' || c.data[c.i-1] == '|' || c.data[start] == '&' && bytes.IndexByte(c.data[start:c.i], ' ') < 0 && text.Is(c.at(1), text.Letter)):
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
func (c *reader) optional() bool {
	start := c.i
	if b := c.peek(); (b == '?' || b == '!') && c.at(1) == ':' {
		c.i += 2
		if c.skip(text.Blank); c.annotated() {
			return true
		}
		if c.skip(text.Letter); c.initialized() {
			return true
		}
	}
	c.i = start
	return false
}

// initialized moves over an equals sign behind which a string stands.
func (c *reader) initialized() bool {
	c.skip(text.Blank)
	if !c.accept("=") {
		return false
	}
	c.skip(text.Blank)
	return c.opens()
}

// opens reports whether a string begins here, perhaps with a letter before it or within a call that makes a
// value of it.
func (c *reader) opens() bool {
	start := c.i
	c.converted()
	for c.i-start < maxType && c.peek() == '\\' {
		c.i++
	}
	b := c.peek()
	found := quotes(b) || bytes.IndexByte([]byte("bBrRuUfF@$"), b) >= 0 && b != 0 && quotes(c.at(1))
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
func (c *reader) converted() bool {
	start := c.i
	for _, s := range conversions {
		if c.accept(s) {
			if b := c.peek(); quotes(b) || b == '\\' || (b == 'b' || b == 'B') && quotes(c.at(1)) {
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

// dimension moves over the size of an array of characters: password[32] = "x".
func (c *reader) dimension() bool {
	start := c.i
	if c.accept("[") {
		c.skip(text.Digit)
		if c.accept("]") && c.initialized() {
			return true
		}
	}
	c.i = start
	return false
}

// accessors moves over those of a property: Password { get; set; } = "x".
func (c *reader) accessors() bool {
	start := c.i
	for _, s := range [...]string{"{ get; set; }", "{ get; init; }", "{ get; private set; }", "{ get; }"} {
		if c.accept(s) && c.initialized() {
			return true
		}
		c.i = start
	}
	return false
}
