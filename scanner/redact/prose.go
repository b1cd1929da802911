package redact

import (
	"bytes"
	"strings"

	"github.com/svc-gateway/svc/scanner/internal/text"
	"github.com/svc-gateway/svc/scanner/redact/device"
	"github.com/svc-gateway/svc/scanner/redact/words"
)

// spaced reads what follows a word and a blank. That can be a secret (password 7 0822,
// username bob password cisco) or prose (the password must be changed).
func (w word) spaced(c *cursor, line []byte, first byte) value {
	command, ok := w.context(line, first)
	if !ok {
		return value{}
	}
	a := binding{word: w, line: line, colon: true, spaced: true, command: command}
	const (
		nothing   = iota
		numbered  // password 7
		typed     // password encrypted
		connected // password is
		phrase    // password for bob
		keyed     // pre-shared-key address 10.0.0.1
	)
	seen, leveled := nothing, false
	for range 10 {
		c.safe = c.i
		start := c.i
		b := c.peek()
		if quote := is(b, quoting) || b == '\\' && is(c.at(1), quoting); quote && seen < phrase {
			if w.kind == publicWord && !command {
				return value{}
			}
			return c.secret(a)
		}
		if seen == nothing && (b == '(' || b == '[') && c.initially() {
			return c.secret(a)
		}
		t := c.token()
		if c.short || len(t.raw) == 0 {
			return value{}
		}
		c.i = start
		text := t.text()
		if t.raw[len(t.raw)-1] == ':' && (words.Connectors.Has(text) || seen >= connected && t.harmless("-.@':")) {
			c.i += len(t.raw)
			a.below = true
			return c.assigned(a)
		}
		if seen == nothing && t.whole() && words.Twins.Has(text) {
			if v := c.twin(t, command); v.end != nil || c.short {
				return v
			}
			c.i = start
		}
		next := nothing
		if words.Types.HasFold(t.word()) && (!command || len(t.word()) < len(t.raw) || !words.Writings.HasFold(t.word())) {
			return value{} // password VARCHAR(20), secret int
		}
		switch {
		case w.kind == publicWord && seen == nothing && string(text) == "string":
			next = phrase
		case leveled && t.number():
			next = typed
		case seen == numbered && command:
			return c.secret(a)
		case w.kind == publicWord && command && seen == nothing && t.whole() && words.Accesses.Has(text):
			next = typed
		case seen <= typed && t.marker():
			if next = typed; is(t.raw[0], digit) {
				next = numbered
			}
		case seen <= connected && t.whole() && (words.Copulas.Has(text) || w.kind != proseWord && words.Connectors.Has(text) || words.Dashes.Has(t.raw)), seen == phrase && t.whole() && words.Copulas.Has(text):
			next = connected
		case seen == nothing && w.kind == commonWord && t.whole() && words.Relations.Has(text), seen == phrase && t.harmless("-.@'"):
			next = phrase
		case w.kind == configWord && t.whole() && string(text) == "key" && seen == keyed:
			next = typed
		case w.kind == configWord && (seen == keyed && t.harmless("-.:/") || t.whole() && (string(text) == "address" || string(text) == "hostname")):
			next = keyed
		}
		if next != nothing {
			leveled = string(text) == "level"
			more := c.another(t)
			if c.safe = c.i; !more {
				return value{}
			}
			seen = next
			continue
		}
		switch {
		case seen >= phrase || strings.IndexByte("([{<-", b) >= 0 || t.url() || t.version():
			return value{}
		case seen == connected || seen == numbered:
			if !t.secret() {
				return value{}
			}
		case seen == typed:
			if words.Functions.Has(text) {
				return value{}
			}
		case w.kind == publicWord:
			if t.route() || !command && !t.mixed() || words.Functions.Has(text) || !command && words.Nouns.Has(text) {
				return value{}
			}
		case t.secret():
		case command && words.Accounts.HasFold(words.FirstField(line)):
		case words.Functions.Has(text) || words.Nouns.Has(text) || b == '/' || w.kind == proseWord && !command || w.kind == commonWord && (!command || len(words.FirstField(line)) == 0) && !c.last(t, line):
			return value{}
		}
		return c.secret(a)
	}
	return value{}
}

// initially moves over what leads to a value in brackets: [default: x].
func (c *cursor) initially() bool {
	start := c.i
	c.i++
	if c.accept("default") && (c.accept(":") || c.accept("=") || c.accept(" is")) {
		c.skip(blank)
		c.safe = c.i
		return true
	}
	c.i = start
	return false
}

// context tells from the line before the word whether it stands in a command. It is not ok
// where the word is only part of something else, such as a path.
func (w word) context(line []byte, first byte) (command, ok bool) {
	cut := len(line)+len(w.spelling) >= lookBehind // the beginning of the line is not known
	if i := bytes.LastIndexAny(line, "#>|"); i >= 0 && !bytes.HasSuffix(line, line[i:i+1]) {
		line, cut = line[i+1:], false // what comes before is a prompt
	}
	line = device.Unled(line)
	head, tail := words.FirstField(line), words.LastField(line)
	if len(head) == 0 {
		if w.kind == publicWord {
			return false, true
		}
		return !cut && first >= 'a', true
	}
	if w.kind == publicWord && (text.ContainsFold(line, "snmp") || text.ContainsFold(line, "trap")) {
		return true, true
	}
	if end := line[len(line)-1]; !is(end, blank) {
		switch {
		case end == '-' || end == '_':
			return w.kind != publicWord && (end == '_' || tail[0] == '-'), true
		case is(end, letter|digit):
			if w.kind == publicWord {
				return true, len(tail) < 4 && (text.HasPrefixFold(tail, "ro") || text.HasPrefixFold(tail, "rw"))
			}
			// userPassword, set pksecret
			command = !cut && len(tail) < len(line) && words.Commands.HasFold(head)
			return command, command || first < 'a' && end >= 'a'
		}
		return false, strings.IndexByte("/.$%@#", end) < 0
	}
	if w.kind == publicWord {
		return false, true
	}
	return !cut && words.Commands.HasFold(head) && !words.Sentence(line) || w.kind == proseWord && words.Owners.HasFold(tail), true
}

// another moves to the token after t and reports whether there is one on the line.
func (c *cursor) another(t token) bool {
	c.i += len(t.raw)
	c.skip(blank)
	return c.peek() > ' '
}

// last reports whether the line ends after t, and is one that says what is what. In a sentence a word
// behind another one is no secret: the password prompts are shown.
func (c *cursor) last(t token, line []byte) bool {
	start := c.i
	c.i += len(t.raw)
	c.skip(blank)
	b, end := c.peek(), c.atEnd()
	c.i = start
	return end || b < ' ' && t.whole() && !words.Functions.HasFold(words.LastField(line)) && len(bytes.Fields(line)) <= 2
}

// twin reads a secret behind a second word for one: password secret x. The two are replaced as a
// whole, because the second word may be the secret: username bob password secret privilege 15.
func (c *cursor) twin(t token, command bool) value {
	start, count := c.i, 0
	for c.another(t) && count < 3 {
		count++
		first := c.i
		t = c.token()
		if c.short {
			return value{}
		}
		if c.i = first; t.marker() {
			continue
		}
		switch {
		case strings.IndexByte("([{<-/", t.raw[0]) >= 0, !command && is(t.raw[0], quoting), t.url(), words.Functions.Has(t.text()), words.Nouns.Has(t.text()):
			return value{}
		case c.reference(), c.masked(), !t.secret() && (!command || c.another(t)):
			return value{}
		}
		c.i = start
		return value{end: endWords, depth: count}
	}
	return value{}
}
