package redact

import (
	"bytes"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// shortOwners stand before a short word for a password where it means one for sure: db_pass, SMTP_PW.
var shortOwners = text.Words(`db database sql mysql mssql pg psql postgres oracle redis mongo rabbit ldap bind ad smtp imap mail email ftp sftp ssh user admin root
	sudo login http https basic auth proxy wifi wlan vpn rds svc service bot my app client server api git registry docker ansible become vault keystore
	truststore`)

// publicOwners stand before "key", "token" and the like where they mean no credential, however random
// the value looks.
var publicOwners = text.Words(`public pub primary foreign partition sort cache object bucket lookup idempotency routing message group range natural schema
	sequence hot idx record row column map dict hash child parent item entry data index search session react list node sub dedup dedupe lock event
	registry reg sort etag trace span request response correlation resource image artifact file path s3 blob storage`)

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
	_, last := cutWord(bytes.TrimRight(name, "-_"))
	return shortOwners.HasFold(last)
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
			if isCapital(b) && n > 0 && !isCapital(c.at(n-1)) {
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

// standIns are words of which one at least is in a value that stands for a secret that somebody is to
// write there, if the rest are words, too: your-api-key, REPLACE_ME, <token here>.
var standIns = text.Words(`your yours replace replaceme insert here placeholder example dummy fake sample todo fixme xxx xxxx xxxxx xxxxxxxx redacted hidden omitted
	changeme_placeholder tbd foobar my-secret enter put paste fill`)

// standIn reports whether the value that begins here is a few plain words that tell what is to stand
// there. They are separated like the words of an identifier.
func (c *cursor) standIn() bool {
	n, words, found := 0, 0, false
	for n < maxName {
		start := n
		for n < maxName && is(c.at(n), letter) {
			n++
		}
		if n == start {
			return false
		}
		words++
		found = found || standIns.HasFold(c.data[c.i+start:c.i+n]) || repeated(c.data[c.i+start:c.i+n])
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
	return found && words > 1 && ended && n < maxName && !c.short
}

// repeated reports whether a word is one letter again and again: xxxx.
func repeated(p []byte) bool { return len(p) > 2 && bytes.Count(p, p[:1]) == len(p) }

// isStandIn reports whether a text as a whole is no secret but words that stand for one.
func isStandIn(p []byte) bool {
	c := newCursor(p, maxHead, true)
	return c.standIn() || bytes.HasPrefix(p, []byte("${{")) && bytes.HasSuffix(p, []byte("}}"))
}
