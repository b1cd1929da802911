package redact

import (
	"bytes"
	"strings"

	"github.com/svc-gateway/svc/scanner/internal/text"
	"github.com/svc-gateway/svc/scanner/redact/literal"
	"github.com/svc-gateway/svc/scanner/redact/words"
)

// word is a word that announces a secret: "password = x", "password": "x", password 7 x.
type word struct {
	spelling string // in lower case; - stands for nothing, - or _
	mark     string // its end, see literal.Expand; several with | between them
	kind     wordKind
	owners   text.Set // one of them stands right before the word: api in api_key
	apart    bool     // it is a word of its own or of an identifier: auth, not oauth
}

// wordKind says how much prose is written with a word.
type wordKind uint8

const (
	configWord  wordKind = iota // hardly used in prose: key-string, pre-shared-key
	commonWord                  // password: prose is told by the words that follow
	proseWord                   // secret: a plain word after it is a secret only in a command
	publicWord                  // community: a blank announces a secret only in a command
	namingWord                  // api_key: only an assignment announces a secret
	shortWord                   // pw: only an assignment of what is no word, unless an owner stands before it
	guardedWord                 // token: only an assignment of what looks random announces a secret
)

// length returns the number of bytes that the word takes at the end of p, 0 if it is not there.
func (w word) length(p []byte) int {
	n := len(p)
	for i := len(w.spelling) - 1; i >= 0; i-- {
		want := w.spelling[i]
		if want == '-' {
			if n > 0 && (p[n-1] == '-' || p[n-1] == '_' || p[n-1] == ' ' && w.kind == configWord) {
				n--
			}
			continue
		}
		if n == 0 || text.Lower(p[n-1]) != want {
			return 0
		}
		n--
	}
	switch {
	case w.owners != nil && !w.owned(p[:n]), w.apart && !w.separate(p, n):
		return 0
	}
	return len(p) - n
}

// separate reports whether the word that p has from n on is one of its own or of an identifier, and
// what stands before it there does not make it something public.
func (w word) separate(p []byte, n int) bool {
	if n == len(p) {
		return false
	}
	before := p[:n]
	if n > 0 && is(before[n-1], letter|digit) {
		escape := n > 1 && before[n-2] == '\\' && (before[n-1] == 'n' || before[n-1] == 't' || before[n-1] == 'r')
		if camel := words.IsCapital(p[n]) && before[n-1] >= 'a'; !camel && !escape {
			return false
		}
	}
	rest, last := words.CutWord(bytes.TrimRight(before, "-_."))
	if words.PublicOwners.HasFold(last) {
		return false
	}
	alone := w.spelling == "key" && len(last) == 0
	return !alone || len(rest) == 0 && !bytes.HasSuffix(before, []byte(`"`)) && !bytes.HasSuffix(before, []byte("<"))
}

// owned reports whether an owner stands at the end of p, as a word of its own or of an
// identifier: apiKey, API_KEY, my-api-key.
func (w word) owned(p []byte) bool {
	end := len(p)
	if end > 0 && (p[end-1] == '-' || p[end-1] == '_' || p[end-1] == ' ') {
		end--
	}
	start := end
	for start > 0 && is(p[start-1], letter) {
		start--
	}
	if w.owners.HasFold(p[start:end]) {
		return true
	}
	if start > 0 && p[start-1] == '\\' && start < end && w.owners.HasFold(p[start+1:end]) {
		return true // behind an escape: \napi_key
	}
	for i := end - 1; i > start; i-- { // myApiKey
		if p[i] < 'a' && p[i-1] >= 'a' {
			return w.owners.HasFold(p[i:end])
		}
	}
	return false
}

// name returns what the word is called as a rule.
func (w word) name() string { return strings.Trim(strings.ReplaceAll(w.spelling, " ", "_"), "-._") }

func (w word) begins(before []byte) bool { return w.length(before) > 0 }

// head reads what stands between the word and the secret.
func (w word) head(c *cursor, before []byte) value {
	n := w.length(before)
	w0 := before[len(before)-n]
	line := lastLine(before[:len(before)-n])
	if w.negated(line) || w.spelling == "credential" && text.ContainsFold(line, "aws4-hmac") {
		return value{}
	}
	joined := c.suffix()
	if c.short || joined == unknownSuffix {
		return value{}
	}
	if tag := bytes.TrimRightFunc(line, inName); bytes.HasSuffix(tag, []byte("<")) {
		if c.peek() == '>' || is(c.peek(), blank) && c.attributes() {
			return w.element(c)
		}
	}
	start := c.i
	for c.i-start < maxRun && (is(c.peek(), quoting) || c.peek() == '\\' || c.peek() == '*' || c.peek() == ']' || c.peek() == ')') {
		c.i++
	}
	closers := c.data[start:c.i]
	blanks := c.skip(blank)
	if c.safe = c.i; c.short || w.shortcut(c, line) || w.handed(line, before[len(before)-n:], closers) {
		return value{}
	}
	a := binding{word: w, line: line, closers: closers, below: bytes.IndexByte(closers, ')') < 0, proper: w0 < 'a'}
	if words.Naming(line) && c.pair() {
		a.line, a.closers, a.colon = nil, nil, true
		return c.assigned(a)
	}
	if c.short {
		return value{}
	}
	if len(closers) > 0 && words.Attribute(line) {
		if c.partner() {
			return c.assigned(a)
		}
		if c.short {
			return value{}
		}
		if blanks == 0 && c.peek() == '>' && !text.ContainsFold(line, "<string") && !text.ContainsFold(line, "<param") {
			return w.element(c)
		}
	}
	switch op := c.operator(); op {
	case assigns, compares:
		if !a.below && (inCall(line) || c.data[c.i-1] == '>') {
			return value{} // def f(user, password): …, (password) => …
		}
		a.colon = c.data[c.i-1] == ':' || c.data[c.i-1] >= 0x80
		a.compares = op == compares
		if path := len(line) > 0 && line[len(line)-1] == '/'; path && a.colon {
			return value{} // /etc/passwd: no such file
		}
		if len(line) > 0 && line[len(line)-1] == ':' && text.ContainsFold(words.LastField(line), "arn:") {
			return value{} // arn:aws:secretsmanager:…:secret:name
		}
		return c.assigned(a)
	case separates:
		// A call: set("password", "x").
		if name := bytes.TrimRightFunc(line, inName); len(closers) > 0 && bytes.HasSuffix(bytes.TrimRight(name[:max(0, len(name)-len(closers))], " "), []byte("(")) {
			c.skip(blank)
			c.partner()
			if is(c.peek(), quoting) || c.peek() == '\\' {
				return c.secret(a)
			}
		}
		if next := c.peek(); len(closers) == 0 && w.kind == guardedWord && is(next, letter|digit) && c.column() {
			return value{end: endBare} // token,x,
		}
		return value{}
	case clashes:
		return value{}
	}
	if len(closers) == 0 && c.typed(blanks) {
		c.safe = c.i
		return c.secret(a)
	}
	if c.peek() == '(' && blanks == 0 && len(closers) == 0 && joined == noSuffix && (w.kind == commonWord || w.kind == shortWord || w.kind == namingWord && w.owners == nil) {
		if c.i++; c.peculiar() && c.parenthesized() {
			c.safe = c.i
			return value{end: endBare}
		}
		return value{}
	}
	if w.kind >= namingWord || joined != noSuffix || len(closers) > 0 || blanks == 0 {
		return value{}
	}
	return w.spaced(c, line, w0)
}

// element reads the content of an element that is called by the word.
func (w word) element(c *cursor) value {
	v := c.element()
	if unlikely := w.kind == shortWord && !c.peculiar() || w.kind == guardedWord && w.apart && !c.scattered(false); unlikely {
		return value{}
	}
	return v
}

// negated reports whether what stands before the word takes its meaning: nopassword.
func (w word) negated(line []byte) bool {
	tail := line[max(0, len(line)-3):]
	return words.HasSuffixFold(tail, "no") && !follows(tail, 2, letter) || words.HasSuffixFold(tail, "no-")
}

// inName reports whether r is part of the name of an XML element.
func inName(r rune) bool { return r < 0x80 && is(byte(r), name) || r == ':' || r == '.' }

// column reports whether a field of CSV stands here that looks random, and ends as one.
func (c *cursor) column() bool {
	n := 0
	for n < 2*maxName && is(c.at(n), token68|padding) {
		n++
	}
	b := c.at(n)
	return n >= 16 && (b == ',' || b < ' ') && c.guarded()
}

// parenthesized reports whether a bracket closes right after the word that begins here, as in
// password(x1): no call has such an argument.
func (c *cursor) parenthesized() bool {
	n := 0
	for n < maxName && c.at(n) > ' ' && c.at(n) != ')' && c.at(n) != ',' && !is(c.at(n), quoting) {
		n++
	}
	return c.at(n) == ')' && !c.short
}

// partner moves over the name of an attribute that holds a value, and the equals sign.
func (c *cursor) partner() bool {
	start := c.i
	for _, s := range [...]string{"value=", "content=", "default=", "val="} {
		if c.accept(s) {
			c.safe = c.i
			return true
		}
	}
	c.i = start
	return false
}

// pair moves over what stands between the name of something and its value, up to the value: a line end or a comma, and
// value: or value =.
func (c *cursor) pair() bool {
	start := c.i
	c.accept(",")
	if c.skip(space); c.i > start && c.data[c.i-1] == '\n' {
		c.lead(leads) // and the blanks behind it
	}
	for is(c.peek(), quoting) {
		c.i++
	}
	if c.i > start && c.accept("value") {
		for is(c.peek(), quoting|blank) {
			c.i++
		}
		if c.accept(":") || c.accept("=") {
			c.safe = c.i
			return true
		}
	}
	c.i = start
	return false
}

// attributes moves over the attributes of an element and reports whether its tag ends there. What
// begins with a redacted value was no tag: <password 1<2>.
func (c *cursor) attributes() bool {
	start := c.i
	for c.i-start < 2*maxName && c.peek() >= ' ' && c.peek() != '<' && c.peek() != '>' {
		c.i++
	}
	inside := c.data[start:c.i]
	redacted := bytes.HasPrefix(bytes.TrimLeft(inside, " \t"), []byte(Mark))
	if c.peek() == '>' && c.data[c.i-1] != '/' && !redacted && !marks.Contains(inside) {
		return true
	}
	c.i = start
	return false
}

// suffix kinds.
const (
	noSuffix = iota
	knownSuffix
	unknownSuffix
)

// suffix reads the rest of the identifier that a word begins or stands in: secretKey,
// PASSWORD_2. Only some of them still name a secret: password_policy does not.
func (c *cursor) suffix() int {
	start := c.i
	for is(c.peek(), letter|digit) {
		c.i++
	}
	c.safe = c.i
	c.skip(name)
	rest := c.data[start:c.i]
	if len(rest) == 0 || c.short {
		return noSuffix
	}
	if rest[0] == '-' && (len(rest) == 1 || rest[1] == '-') {
		c.i = start // -> or --
		return noSuffix
	}
	if words.NamesSecret(rest) {
		return knownSuffix
	}
	return unknownSuffix
}

// namesSecret reports whether what is called so is a secret: db_password, secretKey.
func namesSecret(identifier []byte) bool { return wordIn(identifier) != nil }

// wordIn returns the word that makes what is called so a secret, of several the strictest.
func wordIn(identifier []byte) (strictest *word) {
	for state, i := literal.State(0), 0; i < len(identifier); {
		next, n, found := marks.Find(state, identifier[i:])
		if state, i = next, i+n; !found {
			return strictest
		}
		rest := identifier[i:]
		for _, m := range marks.Ends(state) {
			if w := marked[m.Rule].word; w != nil && w.begins(identifier[:i]) && (len(rest) == 0 || words.NamesSecret(rest)) && (strictest == nil || w.kind < strictest.kind) {
				strictest = w
			}
		}
	}
	return strictest
}

// wideColon is the colon of Chinese text.
const wideColon = "\uff1a"

// kinds of operators.
const (
	noOperator = iota
	assigns
	compares
	separates
	clashes // something else: the word is not used to announce anything
)

// operator reads an assignment or comparison.
func (c *cursor) operator() int {
	for _, op := range [...]string{"===", "!==", "||=", "??=", "==", "!=", ":=", "=>", "->", "?=", "+=", "=~", ":::=", "::=", ".=", "::", "://", ":-", ":", "=", wideColon} {
		if c.accept(op) {
			switch op {
			case ".=":
				if c.peek() == '=' {
					return clashes
				}
			case "::", "://":
				return clashes
			case "===", "!==", "==", "!=", "=~":
				return compares
			case ":-":
				if b := c.peek(); is(b, blank) || b < ' ' {
					return clashes
				}
			}
			return assigns
		}
		if c.short {
			// Operators stay, even half of one.
			for c.i < len(c.data) && (c.data[c.i] == ':' || c.data[c.i] == '=') {
				c.i++
			}
			c.safe = c.i
			return clashes
		}
	}
	if c.accept(",") {
		return separates
	}
	return noOperator
}
