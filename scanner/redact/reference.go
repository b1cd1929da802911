package redact

import (
	"bytes"

	"github.com/svc-gateway/svc/scanner/redact/looks"
	"github.com/svc-gateway/svc/scanner/redact/words"
)

// reference reports whether what stands at the cursor only refers to a secret: <a name>,
// ${A_NAME}, $A_NAME, $(command), {{ template }}, {name}, %s, :name. It may move the cursor when
// it reports true.
func (c *cursor) reference() bool {
	switch b := c.peek(); b {
	case '<':
		return c.at(1) == '%' || c.at(1) == '/' || c.placeholder() || c.markup()
	case '$':
		return c.at(1) == '(' || c.stands(1, "{{") || c.placeholder() || c.variable(1) || is(c.at(1), digit) && (c.at(2) <= ' ' || is(c.at(2), quoting))
	case '{':
		return c.at(1) == '{' || c.at(1) == '%' || c.enclosed('}')
	case '[':
		return c.enclosed(']')
	case '#':
		return c.at(1) == '{'
	case 'a':
		return c.stands(1, "rn:") && is(c.at(4), letter) // of Amazon
	case '&':
		return c.stands(1, "lt;") || c.stands(1, "#x3C;") || c.stands(1, "#x3c;") || c.stands(1, "#60;") // <, in HTML
	case '%':
		next := c.at(1)
		return next == '(' || is(next, letter) && !is(c.at(2), letter|digit) || c.variable(1)
	case ':', '@':
		return c.variable(1)
	}
	return false
}

// markup reports whether a tag with attributes stands here.
func (c *cursor) markup() bool {
	n := 1
	for n < maxName && is(c.at(n), letter) {
		n++
	}
	return n > 1 && n < maxName && c.at(n) == ' '
}

// variable reports whether the name of a variable follows n bytes on: one in capitals, or one
// that names a secret.
func (c *cursor) variable(n int) bool {
	small, length := false, 0
	for length < maxName && (is(c.at(n+length), letter|digit) || c.at(n+length) == '_') {
		small = small || c.data[c.i+n+length] >= 'a'
		length++
	}
	if length < 3 || length == maxName || c.short {
		return false
	}
	identifier := c.data[c.i+n : c.i+n+length]
	if b := c.at(n + length); b == '$' || is(identifier[0], digit) {
		return false
	}
	return !small || namesSecret(identifier) || identifier[0] == '_'
}

// enclosed reports whether a single plain word stands in the brackets: {password}, [hidden].
func (c *cursor) enclosed(last byte) bool {
	n := 1
	for n < maxName && (is(c.at(n), letter) || c.at(n) == '_' || c.at(n) == '.') {
		n++
	}
	if n == 1 || n == maxName || c.at(n) != last {
		return false
	}
	text := c.data[c.i+1 : c.i+n]
	return last == '}' || string(text) == Mark || words.Masks.HasFold(text) || namesSecret(text)
}

// masked reports whether somebody has hidden the secret already: ****, xxxx, ....
func (c *cursor) masked() bool {
	b := c.peek()
	if bytes.IndexByte([]byte("*xX.-_#"), b) < 0 && !c.stands(0, "\u2022") && !c.stands(0, "\u2026") {
		return false
	}
	n := 0
	for n < maxName && c.at(n) > ' ' && !is(c.at(n), quoting) {
		if at := c.at(n); at != b && at < 0x80 {
			break
		}
		n++
	}
	return n >= 3 && n < maxName && (c.at(n) <= ' ' || is(c.at(n), tailing))
}

// guarded reports whether a value begins that looks random.
func (c *cursor) guarded() bool {
	n := 0
	for n < 24 && (is(c.at(n), token68|padding) || c.at(n) == '%') {
		n++
	}
	text := c.data[c.i : c.i+n]
	return !c.short && c.at(n) != '(' && looks.Random(text) && !looks.Camel(text) && !bytes.Contains(text, []byte(Mark))
}

// program reports whether what follows is program text: a call, a variable, a member of one.
func (c *cursor) program(a binding) bool {
	n, dots, digits := 0, 0, 0
	for ; n < maxName; n++ {
		switch b := c.at(n); {
		case is(b, letter) || b == '_':
			continue
		case is(b, digit) && n > 0:
			if digits++; dots == 0 && bytes.IndexByte(c.data[c.i:c.i+n], '_') < 0 && !words.Hashers.HasFold(c.data[c.i:c.i+n]) && !namesSecret(c.data[c.i:c.i+n]) && digits == 1 {
				return false // no more of it is needed to know
			}
			continue
		case b == '.' && n > 0 && c.at(n+1) == '<' && is(c.at(n+2), letter):
			return true // highlighted: alice.<span class="function">secret
		case b == '.' && n > 0 && (is(c.at(n+1), letter) || c.at(n+1) == '_'):
			dots++
			continue
		}
		break
	}
	if n == 0 || n == maxName || c.short {
		return false
	}
	path, next := c.data[c.i:c.i+n], c.at(n)
	switch {
	case next == '(':
		return digits == 0 || bytes.IndexByte(path, '_') > 0 || words.Hashers.HasFold(bytes.TrimRight(path, "0123456789"))
	case next == '[':
		return digits == 0 && (is(c.at(n+1), quoting|digit) || c.at(n+1) == '$')
	case next == '-' && c.at(n+1) == '>':
		return true
	case next > ' ' && bytes.IndexByte([]byte(",;)}]"), next) < 0:
		return false
	case dots > 0:
		root, _, _ := bytes.Cut(path, []byte("."))
		return words.Roots.HasFold(root) || namesSecret(path)
	case namesSecret(path) && looks.Compound(path):
		return digits == 0 || next > ' ' || !words.IsCapital(path[0]) || is(path[n-1], letter) // AdminPassword1 is no variable
	case words.PlainNames.HasFold(path):
		return !a.colon || next > ' ' || next == ' ' && is(c.at(n+1), letter)
	case digits > 0:
		return false
	case next == ';':
		return a.spaced && !a.colon
	case next == ')' || next == ',':
		return !a.colon && !a.spaced && inCall(a.line)
	}
	return false
}

// inCall reports whether the line is inside of the arguments of a call.
func inCall(line []byte) bool {
	open := bytes.LastIndexByte(line, '(')
	return open > 0 && is(line[open-1], name) && bytes.IndexByte(line[open:], ')') < 0
}

// pem reports whether an armoured text begins here, which has its own rule.
func (c *cursor) pem() bool {
	for i := range 11 {
		if c.at(i) != "-----BEGIN "[i] {
			return false
		}
	}
	return true
}

// placeholder reports whether <a name> or ${A_NAME} stands here.
func (c *cursor) placeholder() bool {
	first, last := 1, byte('>')
	if c.peek() == '$' {
		if c.at(1) != '{' {
			return false
		}
		first, last = 2, '}'
	}
	for n := range maxName {
		switch b := c.at(first + n); {
		case b == last:
			after := c.at(first + n + 1) // what goes on is a value that only begins like one
			return n > 0 && (after <= ' ' || bytes.IndexByte([]byte(",;)]}\"'`"), after) >= 0)
		case b == ' ' && last == '>' && !namesSecret(c.data[c.i+1:c.i+1+n]):
		case !is(b, name):
			return false
		}
	}
	return false
}
