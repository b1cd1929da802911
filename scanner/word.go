package scanner

import "bytes"

// word is a word that announces a secret: "password = x", "password": "x", password 7 x.
type word struct {
	spelling string // in lower case; - stands for nothing, - or _
	mark     string // its end, see markTable.add
	kind     wordKind
}

// wordKind says how much prose is written with a word.
type wordKind uint8

const (
	configWord wordKind = iota // hardly used in prose: key-string, pre-shared-key
	commonWord                 // password: prose is told by the words that follow
	proseWord                  // secret: a plain word after it is a secret only in a command
	publicWord                 // community: a blank announces a secret only in a command
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
		if n == 0 || lower(p[n-1]) != want {
			return 0
		}
		n--
	}
	return len(p) - n
}

func (w word) begins(before []byte) bool { return w.length(before) > 0 }

// head reads what stands between the word and the secret.
func (w word) head(c *cursor, before []byte) value {
	n := w.length(before)
	w0 := before[len(before)-n]
	line := lastLine(before[:len(before)-n])

	joined := c.suffix()
	if c.short || joined == unknownSuffix {
		return value{}
	}
	if c.peek() == '>' && bytes.HasSuffix(line, []byte("<")) {
		return c.element()
	}
	start := c.i
	for c.i-start < maxRun && (is(c.peek(), quoting) || c.peek() == '\\' || c.peek() == '*' || c.peek() == ']' || c.peek() == ')') {
		c.i++
	}
	closers := c.data[start:c.i]
	blanks := c.skip(blank)
	if c.safe = c.i; c.short {
		return value{}
	}
	switch c.operator() {
	case assigns:
		colon := c.data[c.i-1] == ':' || c.data[c.i-1] >= 0x80
		return c.assigned(colon, bytes.IndexByte(closers, ')') < 0)
	case separates:
		// A call: set("password", "x").
		if open := len(line) - len(closers); len(closers) > 0 && open > 0 && line[open-1] == '(' {
			if c.skip(blank); is(c.peek(), quoting) || c.peek() == '\\' {
				return c.secret()
			}
		}
		return value{}
	case clashes:
		return value{}
	}
	if joined != noSuffix || len(closers) > 0 || blanks == 0 {
		return value{}
	}
	return w.spaced(c, line, w0)
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
	if secretSuffix(rest) {
		return knownSuffix
	}
	return unknownSuffix
}

// secretSuffix reports whether an identifier that goes on so after the word still names a secret.
func secretSuffix(rest []byte) bool {
	var text [maxName]byte
	n := 0
	for _, b := range rest {
		if b == '-' || b == '_' || is(b, digit) {
			continue
		}
		if n == len(text) {
			return false
		}
		text[n] = lower(b)
		n++
	}
	return n == 0 || suffixes.has(text[:n])
}

// wordMarks are the marks of the credential words.
var wordMarks = func() *markTable {
	t := new(markTable)
	for i, w := range credentialWords {
		t.add(i, w.mark, false)
	}
	return t
}()

// namesSecret reports whether what is called so is a secret: db_password, secretKey.
func namesSecret(identifier []byte) bool {
	state := uint64(0)
	for i := 0; i < len(identifier); {
		next, n, w := find(wordMarks, state, identifier[i:])
		if state, i = next, i+n; w < 0 {
			return false
		}
		rest := identifier[i:]
		if credentialWords[w].begins(identifier[:i]) && (len(rest) == 0 || secretSuffix(rest)) {
			return true
		}
	}
	return false
}

// wideColon is the colon of Chinese text.
const wideColon = "\uff1a"

// kinds of operators.
const (
	noOperator = iota
	assigns
	separates
	clashes // something else: the word is not used to announce anything
)

// operator reads an assignment or comparison.
func (c *cursor) operator() int {
	for _, op := range [...]string{"===", "!==", "||=", "??=", "==", "!=", ":=", "=>", "->", "?=", "+=", "=~", "::", "://", ":", "=", wideColon} {
		if c.take(op) {
			if op == "::" || op == "://" {
				return clashes
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
	if c.take(",") {
		return separates
	}
	return noOperator
}

// assigned reads what follows an assignment. After a colon prose may follow. The value may
// stand on a line of its own where below says so.
func (c *cursor) assigned(colon, below bool) value {
	blanks := c.skip(blank)
	c.safe = c.i
	if b := c.peek(); (b == '|' || b == '>') && blanks > 0 {
		// A YAML block.
		start := c.i
		for c.i++; c.peek() == '+' || c.peek() == '-'; c.i++ {
		}
		if c.skip(blank); c.peek() != '\n' {
			c.i = start
		}
		if c.skip(space); c.short {
			return value{}
		}
		return c.secret()
	}
	if b := c.peek(); b == '\n' || b == '\r' {
		// On a line of its own a value must be quoted or bracketed.
		c.take("\r")
		c.take("\n")
		c.skip(blank)
		c.safe = c.i
		if b := c.peek(); !below || b != '"' && b != '\'' && b != '{' && b != '[' {
			return value{}
		}
	}
	start := c.i
	for c.i-start < maxRun && (c.peek() == '*' || c.peek() == '_' || c.peek() == '`') {
		c.i++ // **Password:** x
	}
	if c.i > start && (!is(c.peek(), blank) || c.skip(blank) == 0) {
		c.i = start
	}
	c.safe = c.i
	for range 6 {
		start := c.i
		if b := c.peek(); c.short || is(b, quoting) || b == '\\' || b == '[' || b == '{' {
			break
		}
		t := c.token()
		if c.short && t.surely() {
			c.i, c.short = start, false // no more of the token is needed to know
			break
		}
		if c.short {
			return value{}
		}
		if literals.has(t.word()) || colon && blanks > 0 && functions.has(t.text()) {
			return value{}
		}
		if c.i = start; !t.marker() || !c.another(t) {
			break
		}
		c.safe = c.i
	}
	return c.secret()
}

// element reads the content of <password>x</password>. Where a blank or punctuation follows
// the tag it is a placeholder: --password <password> --user <user>:<password>@<host>.
func (c *cursor) element() value {
	c.i++
	c.safe = c.i
	if b := c.peek(); b <= ' ' || b == '@' || b == '/' || b == '=' || is(b, tailing) {
		return value{}
	}
	return value{end: endMarkup}
}

// secret reads the opening quote or bracket of a secret and tells how it ends. An empty one,
// a placeholder, a reference and the name of a variable are not secrets.
func (c *cursor) secret() value {
	if c.i+1 < len(c.data) && is(c.at(1), quoting) && bytes.IndexByte([]byte("bBrRuUfF@$"), c.peek()) >= 0 {
		c.i++ // b"x"
	}
	escapes := 0
	for escapes < maxRun && c.at(escapes) == '\\' {
		escapes++
	}
	b := c.at(escapes)
	switch {
	case is(b, quoting):
		c.i += escapes + 1
		c.safe = c.i
		c.triple(b)
		next := 0
		for next < escapes && c.at(next) == '\\' {
			next++
		}
		if c.at(next) == b || c.peek() < ' ' && c.peek() != '\t' || c.pem() {
			return value{}
		}
		return value{end: endQuoted, quote: b, escapes: escapes}
	case b <= ' ' || c.pem():
		return value{}
	case escapes == 0 && (b == '[' || b == '{'):
		c.i++
		start := c.i
		c.skip(space)
		if b := c.peek(); b == ']' || b == '}' {
			return value{}
		}
		c.i = start
		return value{end: endBrackets, depth: 1}
	case b == '<' || b == '$':
		if c.placeholder() {
			return value{}
		}
	}
	if start := c.i; is(c.peek(), tailing) {
		if c.closes() {
			return value{}
		}
		c.i = start
	}
	return value{end: endBare}
}

// triple moves over the rest of a triple quote.
func (c *cursor) triple(quote byte) {
	if c.peek() == quote && c.at(1) == quote {
		c.i += 2
	}
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
