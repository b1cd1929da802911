package command

import "strings"

// sqlKind is the kind of a token of SQL.
type sqlKind int

const (
	sqlWord   sqlKind = iota // a keyword or a plain name, in upper case
	sqlName                  // a quoted name
	sqlString                // a string or a number
	sqlMark                  // any other character
)

// sqlToken is a token of a statement, with its place in the text.
type sqlToken struct {
	kind       sqlKind
	text       string
	start, end int
}

// is reports whether the token is one of the keywords.
func (t sqlToken) is(keywords ...string) bool {
	for _, k := range keywords {
		if t.text == k && (t.kind == sqlWord || t.kind == sqlMark) {
			return true
		}
	}
	return false
}

// sqlStatements splits a text into statements and these into tokens. Comments are left out, but
// not those that MySQL executes.
func sqlStatements(text string) (list [][]sqlToken) {
	var tokens []sqlToken
	for i := 0; i < len(text); {
		start, t := i, sqlToken{kind: sqlMark}
		switch c := text[i]; {
		case c == ';':
			if i++; len(tokens) > 0 {
				list, tokens = append(list, tokens), nil
			}
			continue
		case c <= ' ':
			i++
			continue
		case strings.HasPrefix(text[i:], "--"):
			i = behind(text, i, "\n")
			continue
		case strings.HasPrefix(text[i:], "/*!"):
			for i += 3; i < len(text) && isDigit(text[i]); i++ {
			}
			continue
		case strings.HasPrefix(text[i:], "*/"):
			i += 2
			continue
		case strings.HasPrefix(text[i:], "/*"):
			i = behind(text, i+2, "*/")
			continue
		case c == '\'':
			i = sqlQuoted(text, i+1, c)
			t = sqlToken{kind: sqlString, text: text[start:i]}
		case c == '"' || c == '`':
			i = sqlQuoted(text, i+1, c)
			t = sqlToken{kind: sqlName, text: strings.Trim(text[start:i], string(c))}
		case c == '$' && dollarTag(text[i:]) != "":
			tag := dollarTag(text[i:])
			i = behind(text, i+len(tag), tag)
			t = sqlToken{kind: sqlString, text: text[start:i]}
		case isDigit(c):
			for i < len(text) && (isWordByte(text[i]) || text[i] == '.') {
				i++
			}
			t = sqlToken{kind: sqlString, text: text[start:i]}
		case isWordByte(c):
			for i < len(text) && isWordByte(text[i]) {
				i++
			}
			t = sqlToken{kind: sqlWord, text: strings.ToUpper(text[start:i])}
		default:
			i++
			t.text = text[start:i]
		}
		t.start, t.end = start, i
		tokens = append(tokens, t)
	}
	if len(tokens) > 0 {
		list = append(list, tokens)
	}
	return list
}

// behind returns the place behind the next mark, or the end of the text.
func behind(text string, from int, mark string) int {
	if from > len(text) {
		return len(text)
	}
	i := strings.Index(text[from:], mark)
	if i < 0 {
		return len(text)
	}
	return from + i + len(mark)
}

// sqlQuoted returns the place behind the closing quote; a doubled or escaped one does not close.
func sqlQuoted(text string, i int, quote byte) int {
	for i < len(text) {
		switch {
		case text[i] == '\\' && quote == '\'' && i+1 < len(text):
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

// dollarTag returns $$ or $name$ at the beginning of a text.
func dollarTag(text string) string {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '$':
			return text[:i+1]
		case !isWordByte(text[i]) || i == 1 && isDigit(text[i]):
			return ""
		}
	}
	return ""
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isWordByte reports whether a byte can be part of a name; all beyond ASCII can.
func isWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || isDigit(c) || c == '_' || c >= 0x80
}
