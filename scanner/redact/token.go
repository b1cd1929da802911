package redact

import (
	"bytes"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/scanner/internal/text"
	"github.com/svc-gateway/svc/scanner/redact/words"
)

// token is what stands between white space.
type token struct {
	raw   []byte
	core  []byte // without punctuation around it
	lower [maxName]byte
}

// token reads a token, of a long one the beginning, and leaves the cursor after it. Markup ends it:
// Guidelines</h3>, [Community wiki](https://…).
func (c *cursor) token() token {
	start := c.i
	for c.peek() > ' ' && c.i-start < 2*maxName && (c.i == start || !c.tagged() && !c.linked() && !c.entity() && !c.attributeEnds()) {
		c.i++
	}
	t := token{raw: c.data[start:c.i]}
	t.core = bytes.TrimRight(bytes.TrimLeft(t.raw, "*_(["), "*_,;.&)]}>\"'`:?!|<\\")
	for i := range min(len(t.core), maxName) {
		t.lower[i] = text.Lower(t.core[i])
	}
	return t
}

// tagged reports whether a tag of markup begins here.
func (c *cursor) tagged() bool {
	return c.peek() == '<' && (is(c.at(1), letter) || c.at(1) == '/' || c.at(1) == '!')
}

// entity reports whether a character stands here by its number or name, as in HTML: don&#39;t.
func (c *cursor) entity() bool {
	return c.peek() == '&' && (c.at(1) == '#' && (is(c.at(2), digit) || c.at(2) == 'x') || c.stands(1, "quot;") || c.stands(1, "amp;") || c.stands(1, "nbsp;") || c.stands(1, "lt;"))
}

// attributeEnds reports whether the value of an attribute of markup ends here, and its tag.
func (c *cursor) attributeEnds() bool {
	return is(c.peek(), quoting) && (c.at(1) == '>' || c.at(1) == '/' && c.at(2) == '>')
}

// linked reports whether the text of a link of Markdown ends here.
func (c *cursor) linked() bool { return c.peek() == ']' && c.at(1) == '(' }

// text returns the core in lower case, nothing of a long one.
func (t *token) text() []byte {
	if len(t.core) > maxName {
		return nil
	}
	return t.lower[:len(t.core)]
}

// word returns the letters that the token begins with, if they are a word.
func (t *token) word() []byte {
	n := 0
	for n < len(t.raw) && n < maxName && is(t.raw[n], letter) {
		n++
	}
	if n == maxName || n < len(t.raw) && (is(t.raw[n], name) || t.raw[n] >= 0x80) {
		return nil
	}
	return t.raw[:n]
}

// surely reports whether what was read of the token shows that it will be no word that can
// follow an assignment, however it goes on.
func (t *token) surely() bool {
	letters, digits := 0, 0
	for letters < len(t.raw) && is(t.raw[letters], letter) {
		letters++
	}
	for digits < len(t.raw) && is(t.raw[digits], digit) {
		digits++
	}
	if digits > 2 {
		return true
	}
	if letters < 2 || letters > maxName {
		return false
	}
	i, found := slices.BinarySearch(words.Following, string(t.lower[:letters]))
	return !found && (i == len(words.Following) || !strings.HasPrefix(words.Following[i], string(t.lower[:letters])))
}

// whole reports whether no punctuation surrounds the token.
func (t *token) whole() bool { return len(t.core) == len(t.raw) || words.Dashes.Has(t.raw) }

// marker reports whether the token says how the secret after it is written: 7, sha512.
func (t *token) marker() bool {
	if len(t.raw) == 0 || !t.whole() {
		return false
	}
	if len(t.raw) <= 2 && is(t.raw[0], digit) && is(t.raw[len(t.raw)-1], digit) {
		return true
	}
	return words.Markers.Has(t.text())
}

// secret reports whether the token looks like a secret rather than a word.
func (t *token) secret() bool {
	if string(t.core) == Mark {
		return true
	}
	digits, symbols := 0, bytes.Contains(t.core, []byte(wideColon))
	for i, b := range t.core {
		switch {
		case is(b, digit):
			digits++
		case is(b, letter):
			symbols = symbols || i > 0 && b < 'a' && t.core[i-1] >= 'a' && t.core[i-1] <= 'z'
		case b < 0x80 && strings.IndexByte("-'/.", b) < 0:
			symbols = true
		}
	}
	return symbols || digits > 0 && (digits < len(t.core) || digits > 3)
}

// mixed reports whether letters stand with digits or symbols, as they do in hardly any word.
func (t *token) mixed() bool {
	letters := false
	for _, b := range t.core {
		letters = letters || is(b, letter) || b == '$'
	}
	return (letters || bytes.Contains(t.core, []byte("://"))) && t.secret()
}

// version reports whether the token is the number of a version, 3.5.51.
func (t *token) version() bool {
	for _, b := range t.core {
		if !is(b, digit) && b != '.' {
			return false
		}
	}
	return bytes.Count(t.core, []byte(".")) >= 2
}

// route reports whether the token is a BGP community, 65000:100.
func (t *token) route() bool {
	for _, b := range t.core {
		if !is(b, digit) && b != ':' {
			return false
		}
	}
	return bytes.IndexByte(t.core, ':') > 0
}

// url reports whether the token is a URL, which has its own rule.
func (t *token) url() bool {
	n := 0
	for n < len(t.raw) && is(t.raw[n], letter) {
		n++
	}
	return n > 0 && bytes.HasPrefix(t.raw[n:], []byte("://"))
}

// harmless reports whether the token can stand between "password for" and the secret: a name
// with such punctuation, in which no other rule can find a secret.
func (t *token) harmless(punctuation string) bool {
	for _, b := range t.raw {
		if !is(b, letter|digit) && strings.IndexByte(punctuation, b) < 0 {
			return false
		}
	}
	if bytes.Contains(t.raw, []byte(Mark)) || bytes.Contains(t.raw, []byte("eyJ")) || bytes.Contains(t.raw, []byte("://")) {
		return false
	}
	for _, w := range [...]string{"word", "secret", "community", "key", "bearer", "basic"} {
		if text.ContainsFold(t.raw, w) {
			return false
		}
	}
	return true
}

// number reports whether the token is digits.
func (t *token) number() bool {
	for _, b := range t.raw {
		if !is(b, digit) {
			return false
		}
	}
	return len(t.raw) > 0
}

// letters reports whether the token has nothing but letters.
func (t *token) letters() bool {
	for _, b := range t.raw {
		if !is(b, letter) {
			return false
		}
	}
	return true
}
