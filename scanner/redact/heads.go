package redact

import (
	"bytes"
	"strings"

	"github.com/svc-gateway/svc/scanner/internal/text"
	"github.com/svc-gateway/svc/scanner/redact/looks"
	"github.com/svc-gateway/svc/scanner/redact/words"
)

// maxAuthority bounds each part of a URL's authority that is looked at.
const maxAuthority = 256

// openKeyHead reads what follows svc_: base62, fixed width. Names such as svc_redact are shorter.
func openKeyHead(c *cursor, _ []byte) value {
	for i := range 16 {
		if !is(c.at(i), letter|digit) || c.stands(i, Mark) {
			return value{}
		}
	}
	return value{end: endClass(letter | digit)}
}

// jwtHead reads what follows the eyJ of a JSON Web Token: the rest of its header, a dot, and
// at least the beginning of another part.
func jwtHead(c *cursor, _ []byte) value {
	if n := c.skip(base64u); n < 8 || bytes.HasPrefix(c.data, []byte(Mark)) {
		return value{}
	}
	if c.peek() == '.' {
		if c.i++; c.peek() == '.' {
			c.i++
		}
		if start := c.i; !is(c.peek(), base64u) || c.accept("redacted") {
			return value{}
		} else if c.i = start; c.short {
			return value{}
		}
	} else if c.i < maxHead {
		return value{}
	}
	c.i = 0
	return value{end: endDotted(base64u)}
}

// bearerHead reads what follows Bearer: blanks and a token that does not look like a word.
func bearerHead(c *cursor, before []byte) value {
	if follows(before, 6, letter|digit) || c.skip(blank) == 0 {
		return value{}
	}
	start := c.i
	c.safe = start
	sure, plain := announced(before, 6), true
	for c.i-start < 24 && is(c.peek(), token68) {
		if b := c.data[c.i]; !is(b, letter) || (c.i > start && b < 'a') {
			plain = false
		}
		c.i++
	}
	n, ended := c.i-start, c.atEnd()
	c.i = start
	if n == 0 || !sure && (plain && n < 24 || n < 8 && !ended) {
		return value{}
	}
	if text := bytes.TrimRight(c.data[start:start+n], "."); words.Nouns.HasFold(text) || words.Functions.HasFold(text) {
		return value{} // a Bearer token
	}
	return value{end: endDotted(token68 | padding)}
}

// authorizationHead reads what follows Authorization in a header: a scheme that has no rule of its
// own and its credential, or a credential that looks random.
func authorizationHead(c *cursor, _ []byte) value {
	for is(c.peek(), quoting) || c.peek() == '\\' {
		c.i++
	}
	c.skip(blank)
	if b := c.peek(); b != ':' && b != '=' {
		return value{}
	}
	c.i++
	for is(c.peek(), blank|quoting) || c.peek() == '\\' {
		c.i++
	}
	c.safe = c.i
	t := c.token()
	if c.short || len(t.raw) == 0 || bytes.Contains(t.raw, []byte(Mark)) || !t.letters() && marks.Contains(t.raw) || words.Schemes.Has(t.text()) || bytes.HasPrefix(t.raw, []byte("$")) || bytes.HasPrefix(t.raw, []byte("{")) {
		return value{}
	}
	c.i -= len(t.raw)
	start := c.i
	if t.whole() && c.another(t) {
		next := c.token()
		c.i -= len(next.raw)
		if c.short || bytes.IndexByte(next.raw, '=') >= 0 || marks.Contains(next.raw) || bytes.Contains(next.raw, []byte(Mark)) || words.Functions.Has(t.text()) || !next.secret() {
			return value{}
		}
	} else if c.i = start; !looks.Random(t.core) && !t.mixed() {
		return value{}
	}
	if !is(c.peek(), token68) {
		return value{}
	}
	return value{end: endDotted(token68 | padding)}
}

// basicHead reads what follows Basic: the base64 of user:password.
func basicHead(c *cursor, before []byte) value {
	if follows(before, 5, letter|digit) || c.skip(blank) == 0 {
		return value{}
	}
	start := c.i
	c.safe = start
	n := c.skip(base64s)
	text := c.data[start:c.i]
	c.i = start
	switch {
	case n == 0:
		return value{}
	case announced(before, 5), !looks.Wordlike(text) && looks.Credentials(text):
		return value{end: endClass(base64s | padding)}
	}
	return value{}
}

// announced reports whether an Authorization header comes before the last n bytes.
func announced(before []byte, n int) bool {
	line := lastLine(before[:len(before)-n])
	line = line[max(0, len(line)-24):]
	return text.ContainsFold(line, "authorization")
}

// urlHead reads what follows ://, up to the colon before a password. A port is none: at most
// five digits, or a word for it.
func urlHead(c *cursor, _ []byte) value {
	for c.peek() != ':' {
		if !is(c.peek(), userinfo) || c.i == maxAuthority {
			return value{}
		}
		c.i++
		c.safe = c.i
	}
	if user := c.data[:c.i]; bytes.Contains(user, []byte(Mark)) || namesSecret(user) || len(user) >= 14 && marks.Token(user) {
		return value{} // which has its own rule
	}
	c.i++
	c.safe = c.i
	start := c.i
	if c.port(); c.sentenceEnds() || is(c.peek(), stops) {
		return value{}
	}
	c.i = start
	return value{end: endUserinfo}
}

// port skips the port of a URL, or what stands for it.
func (c *cursor) port() {
	c.accept("+")
	start, b, next := c.i, c.peek(), c.at(1)
	switch {
	case is(b, digit):
		for c.i-start <= 5 && is(c.peek(), digit) {
			c.i++
		}
	case b == '%' && is(next, letter) && !is(c.at(2), letter|digit): // %d
		c.i += 2
	case b == '$' && next == '{':
		c.i++
	case b == '$' && is(next, letter): // $PORT
		for c.i++; c.i-start < maxName && (is(c.peek(), letter|digit) || c.peek() == '_'); c.i++ {
		}
	case c.accept("port"):
	}
}

// sentenceEnds reports whether a full stop or the like stands here, and nothing that goes on with it.
func (c *cursor) sentenceEnds() bool {
	b := c.peek()
	return c.entity() || (b == '.' || b == '!' || b == ':' || b == '*') && is(c.at(1), stops|tailing)
}

// armourHead reads the rest of the BEGIN line and the beginning of a body.
func armourHead(c *cursor, _ []byte) value {
	if !c.accept("---") {
		return value{}
	}
	c.breaks(64)
	if is(c.peek(), quoting) {
		if c.safe = c.i; c.seam() {
			return value{end: endArmour}
		}
	}
	lead := c.lead(leads)
	start := c.i
	c.safe = start
	for _, field := range [...]string{"proc-type:", "dek-info:", "version:", "comment:", "hash:"} {
		if c.accept(field) {
			c.i = start
			return value{end: endArmour, quote: lead}
		}
	}
	for c.i-start < 16 && is(c.peek(), base64s) {
		c.i++
	}
	n := c.i - start
	if c.i = start; n < 16 {
		return value{}
	}
	return value{end: endArmour, quote: lead}
}

// leads are what lines of a difference, a quotation or a comment begin with.
const leads = "+-!<>|#*~;/%"

// lead skips one of the signs, as often as it stands here, and blanks behind it. It returns the sign, 0 if none is
// here. Of dashes it skips one: more begin the END line.
func (c *cursor) lead(signs string) byte {
	sign := c.peek()
	if sign == 0 || strings.IndexByte(signs, sign) < 0 {
		return 0
	}
	for n := 0; c.peek() == sign && (n == 0 || sign != '-' && n < 8); n++ {
		c.i++
	}
	c.skip(blank)
	return sign
}

// cryptHead reads the salt and hash that follow the $6$ of a crypt hash.
func cryptHead(c *cursor, _ []byte) value {
	start := c.i
	if !c.accept("rounds=") {
		for i := range 8 {
			if !is(c.at(i), hashed) {
				return value{}
			}
		}
	}
	c.i = start
	return value{end: endClass(hashed | padding)}
}

// follows reports whether a byte of the class comes before the last n bytes.
func follows(before []byte, n int, class text.Class) bool {
	i := len(before) - n - 1
	return i >= 0 && is(before[i], class)
}

// lastLine returns what follows the last line end.
func lastLine(p []byte) []byte { return p[bytes.LastIndexByte(p, '\n')+1:] }
