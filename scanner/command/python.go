package command

import "strings"

// maxFormat is how deep strings may stand in the expressions of strings.
const maxFormat = 8

// python splits Python into tokens. There is no parser of Python for Go that is kept up; this
// knows what matters here: strings with their prefixes, escapes and expressions, comments, and
// which line ends a statement.
type python struct {
	text  string
	depth int
}

// tokens returns the tokens of the text from i to end. What is in an expression of a string has
// no lines.
func (p python) tokens(i, end int) (list []codeToken) {
	var open brackets
	for i < end {
		c, start := p.text[i], i
		switch {
		case c == '\n':
			i++
			if len(open) == 0 && p.depth == 0 {
				list = append(list, codeToken{kind: tokenLine, start: start, end: i})
			}
			continue
		case c == '#':
			for i < end && p.text[i] != '\n' {
				i++
			}
			continue
		case c == '\\' || c <= ' ':
			i++
			continue
		case isDigit(c) || c == '.' && i+1 < end && isDigit(p.text[i+1]):
			for i < end && (isWordByte(p.text[i]) || p.text[i] == '.') {
				i++
			}
			list = append(list, codeToken{kind: tokenNumber, text: p.text[start:i], start: start, end: i})
			continue
		case c == '"' || c == '\'':
			t := p.str(start, i, end)
			list, i = append(list, t), t.end
			continue
		case isWordByte(c):
			for i < end && isWordByte(p.text[i]) {
				i++
			}
			if i < end && (p.text[i] == '"' || p.text[i] == '\'') && stringPrefix(p.text[start:i]) {
				t := p.str(start, i, end)
				list, i = append(list, t), t.end
				continue
			}
			list = append(list, codeToken{kind: tokenName, text: p.text[start:i], start: start, end: i})
			continue
		}
		i++
		for _, mark := range []string{":=", "::", "**", "//", "==", "!=", "<=", ">=", "->", "+=", "-=", "*=", "/=", "|=", "<<", ">>", "%="} {
			if strings.HasPrefix(p.text[start:end], mark) {
				i = start + 2
				break
			}
		}
		open.see(c)
		list = append(list, codeToken{kind: tokenMark, text: p.text[start:i], start: start, end: i})
	}
	return list
}

// stringPrefix reports whether a word before a quote belongs to the string.
func stringPrefix(s string) bool {
	return len(s) <= 2 && strings.Trim(strings.ToLower(s), "rbuft") == ""
}

// str reads the string whose prefix stands at start and whose quote at i.
func (p python) str(start, i, end int) codeToken {
	prefix := strings.ToLower(p.text[start:i])
	raw, format := strings.Contains(prefix, "r"), strings.ContainsAny(prefix, "ft") && p.depth < maxFormat
	quote := p.text[i : i+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(p.text[i:end], triple) {
		quote = triple
	}
	t := codeToken{kind: tokenString, start: start}
	var b strings.Builder
	for i += len(quote); i < end; {
		c := p.text[i]
		switch {
		case strings.HasPrefix(p.text[i:end], quote):
			i += len(quote)
			return t.close(b.String(), i)
		case c == '\n' && len(quote) == 1:
			return t.close(b.String(), i) // it is not closed
		case c == '\\' && i+1 < end && raw:
			b.WriteString(p.text[i : i+2])
			i += 2
		case c == '\\' && i+1 < end:
			i += resolveEscape(&b, p.text[i:end])
		case format && (c == '{' || c == '}') && i+1 < end && p.text[i+1] == c:
			b.WriteByte(c)
			i += 2
		case format && c == '{':
			stop := p.formatEnd(i+1, end)
			inner := python{p.text, p.depth + 1}
			t.pieces = append(t.pieces, b.String())
			t.holes = append(append(t.holes, inner.tokens(i+1, stop)...), codeToken{kind: tokenEnd, start: stop, end: stop})
			b.Reset()
			for i = stop; i < end && p.text[i] != '}' && p.text[i] != '\n'; i++ {
			}
			i = min(i+1, end)
		default:
			b.WriteByte(c)
			i++
		}
	}
	return t.close(b.String(), i)
}

// close ends a string.
func (t codeToken) close(rest string, end int) codeToken {
	t.text, t.end = rest, end
	if t.holes != nil {
		t.pieces = append(t.pieces, rest)
		t.text = strings.Join(t.pieces, notYet)
	}
	return t
}

// formatEnd returns the place where the expression of a format ends: at its brace, or at the colon or
// exclamation mark that tells how to print it.
func (p python) formatEnd(i, end int) int {
	var open brackets
	for i < end {
		switch c := p.text[i]; {
		case c == '"' || c == '\'':
			i = max(python{p.text, maxFormat}.str(i, i, end).end, i+1)
			continue
		case len(open) == 0 && (c == '}' || c == ':' || c == '!' && (i+1 >= end || p.text[i+1] != '=')):
			return i
		default:
			open.see(c)
		}
		i++
	}
	return end
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isWordByte reports whether a byte can be part of a name; all beyond ASCII can.
func isWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || isDigit(c) || c == '_' || c >= 0x80
}
