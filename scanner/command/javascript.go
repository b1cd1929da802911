package command

import (
	"strings"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"
)

// javascript turns the tokens of a lexer of JavaScript into ours.
type javascript struct {
	in    *parse.Input
	lexer *js.Lexer
	size  int
	last  codeToken // the token before, which tells a division from a regular expression
}

// tokensJS returns the tokens of JavaScript or TypeScript.
func tokensJS(text string) (list []codeToken) {
	in := parse.NewInputString(text)
	j := javascript{in: in, lexer: js.NewLexer(in), size: len(text)}
	for {
		t, _, ok := j.next()
		if !ok {
			return list
		}
		list = append(list, t)
	}
}

// next returns the next token, and the type the lexer gave it. ok is false at the end.
func (j *javascript) next() (t codeToken, kind js.TokenType, ok bool) {
	for j.in.Offset() < j.size { // the lexer does not bear to be asked once more
		kind, data := j.lexer.Next()
		if (kind == js.DivToken || kind == js.DivEqToken) && !j.operand() {
			if again, regexp := j.lexer.RegExp(); again == js.RegExpToken {
				kind, data = again, regexp
			}
		}
		end := j.in.Offset()
		t := codeToken{text: string(data), start: end - len(data), end: end}
		switch {
		case kind == js.WhitespaceToken || kind == js.CommentToken || kind == js.CommentLineTerminatorToken || kind == js.ErrorToken:
			continue
		case kind == js.LineTerminatorToken:
			t.kind = tokenLine
			return t, kind, true
		case kind == js.StringToken:
			t.kind, t.text = tokenString, plain(t.text[1:max(len(t.text)-1, 1)])
		case kind == js.TemplateToken:
			t.kind, t.text = tokenString, plain(strings.Trim(t.text, "`"))
		case kind == js.TemplateStartToken:
			t = j.template(t)
		case kind == js.RegExpToken || js.IsNumeric(kind):
			t.kind = tokenNumber
		case js.IsIdentifierName(kind) || kind == js.PrivateIdentifierToken:
			t.kind = tokenName
		default:
			t.kind = tokenMark
		}
		j.last = t
		return t, kind, true
	}
	return codeToken{start: j.size, end: j.size}, js.ErrorToken, false
}

// template reads a template with expressions; start is its beginning.
func (j *javascript) template(start codeToken) codeToken {
	t := codeToken{kind: tokenString, start: start.start}
	t.pieces = append(t.pieces, plain(strings.TrimSuffix(start.text[1:], "${")))
	for {
		j.last = codeToken{kind: tokenMark, text: "{"}
		inner, kind, ok := j.next()
		switch {
		case !ok || kind == js.TemplateEndToken || kind == js.TemplateMiddleToken:
			rest := strings.TrimPrefix(inner.text, "}")
			rest = strings.TrimSuffix(strings.TrimSuffix(rest, "`"), "${")
			t.holes = append(t.holes, codeToken{kind: tokenEnd, start: inner.start, end: inner.start})
			if !ok || kind == js.TemplateEndToken {
				return t.close(plain(rest), inner.end)
			}
			t.pieces = append(t.pieces, plain(rest))
		default:
			t.holes = append(t.holes, inner)
		}
	}
}

// operand reports whether the token before ends a value, so that a slash divides it.
func (j *javascript) operand() bool {
	switch j.last.kind {
	case tokenName:
		return !j.last.is("return", "typeof", "case", "in", "of", "delete", "void", "throw", "new", "await", "yield", "else", "do")
	case tokenMark:
		return j.last.is(")", "]", "}")
	}
	return j.last.end > 0
}
