package scanner

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// arg is a word of a command. The text of a dynamic one is its source.
type arg struct {
	text    string
	dynamic bool // expansions make it, so that it is only known at run time
	glob    bool // it may stand for many names
}

// words returns the words of a command as the shell would hand them over.
func (w *shell) words(list []*syntax.Word) []arg {
	args := make([]arg, len(list))
	for i, word := range list {
		args[i] = w.word(word)
	}
	return args
}

func (w *shell) word(word *syntax.Word) arg {
	var b strings.Builder
	var a arg
	if !literal(&b, &a, word.Parts, false) {
		return arg{text: w.text[word.Pos().Offset():word.End().Offset()], dynamic: true}
	}
	a.text = b.String()
	return a
}

// literal1 writes the parts of a word and reports whether all are literal.
func literal(b *strings.Builder, a *arg, parts []syntax.WordPart, quoted bool) bool {
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			unquote(b, a, p.Value, quoted)
		case *syntax.SglQuoted:
			if p.Dollar && strings.Contains(p.Value, `\`) {
				return false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			if p.Dollar || !literal(b, a, p.Parts, true) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// unquote writes a literal without its backslashes.
func unquote(b *strings.Builder, a *arg, s string, quoted bool) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && (!quoted || strings.IndexByte("$`\"\\\n", s[i+1]) >= 0):
			if i++; s[i] != '\n' {
				b.WriteByte(s[i])
			}
		case !quoted && strings.IndexByte("*?[{", c) >= 0:
			a.glob = true
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
}

// assignment judges NAME=value. Most variables change what later commands do, or which they are.
func assignment(a *syntax.Assign) verdict {
	if a.Name == nil {
		return verdict{Unknown, "", "it assigns what is only known at run time"}
	}
	if name := a.Name.Value; strings.HasPrefix(name, "LC_") || harmlessVariables.has([]byte(strings.ToLower(name))) {
		return verdict{class: ReadOnly}
	}
	return verdict{Unknown, "", "it sets a variable"}
}

var harmlessVariables = words("lang language tz columns lines term no_color")

// redirect judges a redirection.
func (w *shell) redirect(r *syntax.Redirect) {
	if r.Hdoc != nil {
		w.substitutions(r.Hdoc)
	}
	if r.Word == nil {
		return
	}
	w.substitutions(r.Word)
	switch r.Op {
	case syntax.RdrIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc, syntax.DplIn:
		return
	}
	target := w.word(r.Word)
	if r.Op == syntax.DplOut && !target.dynamic && strings.Trim(target.text, "0123456789-") == "" {
		return
	}
	w.raise(writes(target), w.place(r))
}
