package sqltoken

import "strings"

// Kind is the kind of a token.
type Kind int

// The kinds of tokens.
const (
	Word    Kind = iota // a keyword or a plain name
	Name                // a quoted name
	Literal             // a string or a number
	Mark                // any other character
)

// Token is a token of a text, with its place there.
type Token struct {
	Kind       Kind
	Text       string // a word in upper case, a name without its quotes, anything else as it is written
	Start, End int
}

// Is reports whether the token is one of the keywords, which are in upper case, or marks.
func (t Token) Is(keywords ...string) bool {
	for _, k := range keywords {
		if t.Text == k && (t.Kind == Word || t.Kind == Mark) {
			return true
		}
	}
	return false
}

// Dialect is what databases disagree about.
type Dialect struct {
	Backslash bool // in strings a quote after a backslash is part of the string, as in MySQL
	Dollars   bool // $tag$…$tag$ is a string, as in PostgreSQL; otherwise a dollar is part of words
	Executed  bool // what stands in /*! … */ is run, as by MySQL, and no comment
	Brackets  bool // [a name] is one, as in SQLite and SQL Server
}

// The dialects.
var (
	SQLite = Dialect{Brackets: true}
	Any    = Dialect{Backslash: true, Dollars: true, Executed: true}
)

// Next returns the first token from byte i of a text on. ok is false where there is none.
func (d Dialect) Next(text string, i int) (t Token, ok bool) {
	for i < len(text) {
		c := text[i]
		switch {
		case c <= ' ':
			i++
			continue
		case strings.HasPrefix(text[i:], "--"):
			i = after(text, i, "\n")
			continue
		case d.Executed && strings.HasPrefix(text[i:], "/*!"):
			for i += 3; i < len(text) && isDigit(text[i]); i++ { // the version that runs it
			}
			continue
		case d.Executed && strings.HasPrefix(text[i:], "*/"):
			i += 2
			continue
		case strings.HasPrefix(text[i:], "/*"):
			i = after(text, i+2, "*/")
			continue
		}
		return d.token(text, i), true
	}
	return Token{}, false
}

// token returns the token that begins at byte i.
func (d Dialect) token(text string, i int) Token {
	t := Token{Kind: Mark, Start: i, End: i + 1}
	switch c := text[i]; {
	case c == '\'':
		t.Kind, t.End = Literal, d.quoted(text, i)
	case c == '"' || c == '`':
		t.Kind, t.End = Name, d.quoted(text, i)
		t.Text = strings.Trim(text[i:t.End], string(c))
		return t
	case c == '[' && d.Brackets:
		t.Kind, t.End = Name, after(text, i+1, "]")
		t.Text = strings.Trim(text[i:t.End], "[]")
		return t
	case c == '$' && d.Dollars:
		if tag := dollarTag(text[i:]); tag != "" {
			t.Kind, t.End = Literal, after(text, i+len(tag), tag)
		}
	case isDigit(c):
		for t.Kind = Literal; t.End < len(text) && (d.inWord(text[t.End]) || text[t.End] == '.'); t.End++ {
		}
	case d.inWord(c):
		for t.Kind = Word; t.End < len(text) && d.inWord(text[t.End]); t.End++ {
		}
		t.Text = strings.ToUpper(text[i:t.End])
		return t
	}
	t.Text = text[i:t.End]
	return t
}

// quoted returns the place behind the quote that closes what the one at byte i opens. A doubled one
// does not.
func (d Dialect) quoted(text string, i int) int {
	quote := text[i]
	for i++; i < len(text); {
		switch {
		case d.Backslash && text[i] == '\\' && quote == '\'' && i+1 < len(text):
			i += 2
		case text[i] != quote:
			i++
		case i+1 < len(text) && text[i+1] == quote:
			i += 2
		default:
			return i + 1
		}
	}
	return i
}

// after returns the place behind the next mark, or the end of the text.
func after(text string, from int, mark string) int {
	if from > len(text) {
		return len(text)
	}
	i := strings.Index(text[from:], mark)
	if i < 0 {
		return len(text)
	}
	return from + i + len(mark)
}

// dollarTag returns $$ or $name$ at the beginning of a text, "" where there is none.
func dollarTag(text string) string {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '$':
			return text[:i+1]
		case !Any.inWord(text[i]) || i == 1 && isDigit(text[i]):
			return ""
		}
	}
	return ""
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// inWord reports whether a byte can be part of a word; all beyond ASCII can.
func (d Dialect) inWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || isDigit(c) || c == '_' || c >= 0x80 || c == '$' && !d.Dollars
}
