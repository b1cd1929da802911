package redact

import (
	"bytes"

	"github.com/svc-gateway/svc/scanner/internal/text"
	"github.com/svc-gateway/svc/scanner/redact/words"
)

// keyKind says what a key tells about its value.
type keyKind uint8

const (
	openKey      keyKind = iota // nothing
	plainKey                    // it is none, in whatever object it stands
	guardedKey                  // it is a secret if it looks random
	scatteredKey                // the same, with figures all over it
	shortKey                    // it is a secret if it is no word
	sparedKey                   // it is a secret if it looks like one and is no sentence
	secretKey                   // it is a secret
	allowedKey                  // it stays whatever it is
)

// rules of values in JSON, which are judged by their beginnings. Their examples are documents.
var (
	guardedValue = rule{
		name: "guarded_value",
		head: func(c *cursor, _ []byte) value {
			if c.guarded() {
				return value{end: endAll}
			}
			return value{}
		},
		examples: []example{
			{`{"access_token": "q2Lr9Tn4Vd0WkJm3"}`, `{"access_token": "REDACTED"}`},
			{`{"token": " hello"}`, ""},
		},
	}
	scatteredValue = rule{
		name: "scattered_value",
		head: func(c *cursor, _ []byte) value {
			if c.scattered(true) {
				return value{end: endAll}
			}
			return value{}
		},
		examples: []example{
			{`{"user_auth": "am9obmRvZTpkMDY5NGIxYi1jMTcx"}`, `{"user_auth": "REDACTED"}`},
			{`{"auth": "requiredForAll"}`, ""},
		},
	}
	shortValue = rule{
		name: "short_value",
		head: func(c *cursor, _ []byte) value {
			if c.peculiar() && !c.standIn() {
				return value{end: endAll}
			}
			return value{}
		},
		examples: []example{
			{`{"pass": "hunter2x"}`, `{"pass": "REDACTED"}`},
			{`{"pass": "first"}`, ""},
		},
	}
	sparedValue = rule{
		name: "spared_value",
		head: func(c *cursor, _ []byte) value {
			t := c.token()
			c.i -= len(t.raw)
			if c.short || len(t.raw) == 0 || c.at(len(t.raw)) != 0 || !t.secret() {
				return value{}
			}
			return value{end: endAll}
		},
		examples: []example{
			{`{"errors": {"password": "hunter2"}}`, `{"errors": {"password": "REDACTED"}}`},
			{`{"errors": {"password": "is too short"}}`, ""},
		},
	}
)

// endAll ends a value with its text.
func endAll(_ *value, c *cursor) (int, bool) {
	c.i = len(c.data)
	return c.i, c.atEnd() && c.eof
}

// kindOf returns the kind of a key in an object of this level.
func (l *level) kindOf(key []byte) keyKind {
	kind := nameKind(key)
	switch {
	case l.secret && kind == openKey && plain(key):
		return plainKey
	case l.schema && schemaValues.HasFold(key):
		return secretKey
	case l.named && valueKeys.HasFold(key):
		return secretKey
	case l.spared && kind == secretKey:
		return sparedKey
	}
	return kind
}

// plain reports whether the member of a secret's object tells something about it, and is none: when it
// expires, of which type it is.
func plain(key []byte) bool {
	_, last := words.CutWord(key)
	return plainKeys.HasFold(key) || !bytes.Equal(last, key) && plainEnds.HasFold(last)
}

// nameKind returns what the name of a value tells.
func nameKind(name []byte) keyKind {
	switch w := wordIn(name); {
	case w == nil:
		return openKey
	case w.kind == guardedWord && words.Handle(name):
		return openKey
	case w.kind == guardedWord && w.apart:
		return scatteredKey
	case w.kind == guardedWord:
		return guardedKey
	case w.kind == shortWord && !(binding{line: name[:len(name)-w.length(name)]}).owned():
		return shortKey
	}
	return secretKey
}

// naming reports whether a member of this name names another one.
func naming(key []byte) bool { return nameKeys.HasFold(key) }

// secretName reports whether what is called so is a secret, whatever it looks like.
func secretName(name []byte) bool { return nameKind(name) == secretKey }

// describes makes the level one that describes a secret if its first key is one of a schema:
// {"password": {"type": "string"}}.
func (l *level) describes(first []byte) {
	if l.secret && !l.within && schemaKeys.HasFold(first) {
		l.secret, l.schema = false, true
	}
}

var (
	plainKeys = text.Words(`type object id kind status version format algorithm alg created updated modified expires expiry expiration`)
	plainEnds = text.Words(`at in on type id`) // created_at, expiresIn

	nameKeys  = text.Words(`name key field variable property header parameter attribute option setting`)
	valueKeys = text.Words(`value val v default defaultvalue default_value`)

	// sparedKeys are the keys of objects that tell something about fields, not their values.
	sparedKeys = text.Words(`errors error labels label placeholders placeholder translations i18n validation violations descriptions
		hints titles tooltips help`)

	schemaKeys = text.Words(`type $ref description title format minlength maxlength pattern required nullable readonly writeonly anyof
		oneof allof label placeholder items properties`)
	schemaValues = text.Words(`default example examples const enum value`)
)
