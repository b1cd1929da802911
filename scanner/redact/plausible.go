package redact

import (
	"bytes"

	"github.com/svc-gateway/svc/scanner/redact/looks"
	"github.com/svc-gateway/svc/scanner/redact/words"
)

// plausible reports whether what stands at the cursor can be the value of the word.
func (a binding) plausible(c *cursor) bool {
	switch {
	case a.word.kind == guardedWord && a.word.apart:
		return c.scattered(c.i > 0 && is(c.data[c.i-1], quoting))
	case a.word.kind == guardedWord:
		return c.guarded()
	case a.word.kind == shortWord && !a.owned():
		return c.peculiar()
	}
	return true
}

// owned reports whether an identifier says what the short word at its end is for: db_pass.
func (a binding) owned() bool {
	name := a.line[len(bytes.TrimRightFunc(a.line, inIdentifier)):]
	_, last := words.CutWord(bytes.TrimRight(name, "-_"))
	return words.ShortOwners.HasFold(last)
}

// scattered reports whether a value begins whose figures are scattered over it as over no name; in quotes,
// where no name of a program stands, one that looks random and has a figure will do.
func (c *cursor) scattered(quoted bool) bool {
	n, runs := 0, 0
	for n < maxName && (is(c.at(n), base64u|base64s|padding) || c.at(n) == '%') {
		if is(c.at(n), digit) && (n == 0 || !is(c.at(n-1), digit)) {
			runs++
		}
		n++
	}
	next := c.at(n)
	return n >= 12 && !c.short && next != '(' && next != '.' && next != '[' && (runs > 2 || quoted && runs > 0) && c.guarded()
}

// peculiar reports whether a word begins here that is none of a language: letters with digits, or with
// capitals or signs among them, of five at least, and no path, number or variable.
func (c *cursor) peculiar() bool {
	if b := c.peek(); b <= ' ' || bytes.IndexByte([]byte("/~.$%<{[(@&#-+=|:*!"), b) >= 0 {
		return false
	}
	letters, digits, signs, capitals, n := 0, 0, 0, 0, 0
	for ; n < maxName; n++ {
		b := c.at(n)
		if b <= ' ' || is(b, quoting) || b == ',' || b == ';' || b == ')' || b == '<' || b == '>' {
			break
		}
		switch {
		case is(b, digit):
			digits++
		case is(b, letter):
			letters++
			if words.IsCapital(b) && n > 0 && !words.IsCapital(c.at(n-1)) {
				capitals++
			}
		case b == '(' || b == '[' || b == '{' || b == '/' || b == '\\':
			return false
		case b != '_' && b != '-' && b != '.':
			signs++
		}
	}
	return !c.short && n >= 5 && letters > 0 && (digits > 0 && letters > 1 || signs > 0 && digits+capitals > 0)
}

// standIn reports whether the value that begins here is a few plain words that tell what is to stand
// there. They are separated like the words of an identifier.
func (c *cursor) standIn() bool {
	n, count, found := 0, 0, false
	for n < maxName {
		start := n
		for n < maxName && is(c.at(n), letter) {
			n++
		}
		if n == start {
			return false
		}
		count++
		found = found || words.StandIns.HasFold(c.data[c.i+start:c.i+n]) || looks.Repeated(c.data[c.i+start:c.i+n])
		b := c.at(n)
		if c.short {
			return false
		}
		if b != '-' && b != '_' && b != '.' {
			break
		}
		n++
	}
	b := c.at(n)
	ended := b <= ' ' || is(b, quoting) || bytes.IndexByte([]byte(",;)]}&<\\"), b) >= 0
	return found && count > 1 && ended && n < maxName && !c.short
}

// isStandIn reports whether a text as a whole is no secret but words that stand for one.
func isStandIn(p []byte) bool {
	c := newCursor(p, maxHead, true)
	return c.standIn() || bytes.HasPrefix(p, []byte("${{")) && bytes.HasSuffix(p, []byte("}}"))
}
