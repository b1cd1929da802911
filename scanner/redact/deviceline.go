package redact

import (
	"bytes"

	"github.com/svc-gateway/svc/scanner/redact/device"
	"github.com/svc-gateway/svc/scanner/redact/looks"
	"github.com/svc-gateway/svc/scanner/redact/words"
)

// deviceLine finds the secret in a line of a device configuration.
type deviceLine struct{ device.Line }

// deviceRules makes the rules of the keywords.
func deviceRules() (all []rule) {
	for _, l := range device.Lines {
		r := rule{
			name:  "config_" + l.Keyword,
			marks: []string{l.Keyword + "[ \t]"},
			exact: l.Keyword == "ENC", begins: l.Begins, head: deviceLine{l}.head,
		}
		for _, e := range l.Examples {
			r.examples = append(r.examples, example{e.In, e.Out})
		}
		all = append(all, r)
	}
	return all
}

// head reads the options and finds the secret.
func (l deviceLine) head(c *cursor, before []byte) value {
	c.skip(blank)
	switch l.Keyword {
	case "host", "address":
		if !c.target() {
			return value{}
		}
	}
	if l.Named && !c.hexName() {
		return value{}
	}
	known := l.First != nil || l.Within != ""
	options := 0
	for range 10 {
		c.safe = c.i
		if is(c.peek(), quoting) {
			break
		}
		t := c.token()
		if c.short || len(t.raw) == 0 {
			return value{}
		}
		c.i -= len(t.raw)
		option := l.Options.Has(t.text()) && t.whole() || l.Number && t.number()
		if l.Keyword == "host" {
			option = device.Notification.Has(t.text())
		}
		if !option {
			break
		}
		argument := l.Keyword == "host" && device.TakesName.Has(t.text())
		if !c.another(t) {
			return value{}
		}
		if options++; argument {
			t := c.token()
			if c.i -= len(t.raw); c.short || !c.another(t) {
				return value{}
			}
		}
	}
	if l.Typed && options == 0 || c.short {
		return value{}
	}
	t := c.token()
	c.i -= len(t.raw)
	if c.short || !t.configured(known && options+len(l.Within) > 0) || l.Without != "" && string(t.text()) == l.Without {
		return value{}
	}
	if l.Named && !looks.Hex(t.core, 6) {
		return value{}
	}
	if l.Alone && (!t.mixed() || is(c.at(len(t.raw)), blank)) {
		return value{}
	}
	v := c.secret(binding{command: true})
	if l.Keyword == "community-map" && v.end != nil {
		v.quote = ':'
	}
	return v
}

// hexName moves over a name in hex, behind which something stands.
func (c *cursor) hexName() bool {
	t := c.token()
	c.i -= len(t.raw)
	return !c.short && looks.Hex(t.raw, 2) && c.another(t)
}

// target moves over the host that a line is about, with the interface before it.
func (c *cursor) target() bool {
	for range 2 {
		t := c.token()
		c.i -= len(t.raw)
		// A host is no secret: where a part of it was one, this is no host.
		if c.short || len(t.raw) == 0 || words.Functions.Has(t.text()) || bytes.Contains(t.raw, []byte(Mark)) || !c.another(t) {
			return false
		}
		if bytes.IndexAny(t.raw, ".:") > 0 {
			return true
		}
		if b := c.peek(); !is(b, digit) {
			return false
		}
	}
	return false
}

// configured reports whether the token can be a secret in a line of a configuration. Where the
// line may still be prose it must not be a word that follows the keyword there.
func (t *token) configured(sure bool) bool {
	text := t.text()
	switch {
	case len(t.core) == 0 && !is(t.raw[0], quoting), t.raw[0] == '<' || t.raw[0] == '-' || t.raw[0] == '[' || t.raw[0] == '(':
		return false
	case device.Grammar.Has(text):
		return false
	case sure:
		return true
	}
	return !words.Functions.Has(text) && !words.Nouns.Has(text)
}
