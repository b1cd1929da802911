package tools

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

const maxLine = 4096 // bytes of a command line

// splitLine reads a command line as a shell would and returns its words, but only
// when they are what a shell would run unchanged: one simple command of literal
// words. Anything that a shell would expand, redirect, repeat or run besides is an
// error that names it.
func splitLine(line string) ([]string, error) {
	switch {
	case len(line) > maxLine:
		return nil, fmt.Errorf("the command is longer than %d bytes", maxLine)
	case !utf8.ValidString(line):
		return nil, errors.New("the command is not valid UTF-8")
	case strings.ContainsRune(line, '\\'):
		return nil, errors.New("a backslash is not allowed in a command; quote the word instead")
	}
	line = strings.Trim(line, " \t\n") // what a shell trims: other white space belongs to a word
	for _, r := range line {
		if r != '\t' && !unicode.IsPrint(r) {
			return nil, fmt.Errorf("the character %U is not allowed in a command", r)
		}
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(line), "")
	if err != nil {
		var pe syntax.ParseError
		if errors.As(err, &pe) {
			return nil, fmt.Errorf("the command cannot be parsed: %s at column %d", pe.Text, pe.Pos.Col())
		}
		return nil, fmt.Errorf("the command cannot be parsed: %w", err)
	}
	switch {
	case len(file.Last) > 0 || len(file.Stmts) > 0 && len(file.Stmts[0].Comments) > 0:
		return nil, errors.New("comments are not allowed in a command")
	case len(file.Stmts) == 0:
		return nil, errors.New("the command is empty")
	case len(file.Stmts) > 1:
		return nil, errors.New("several commands in one line are not allowed; call the tool once for each")
	}
	s := file.Stmts[0]
	call, simple := s.Cmd.(*syntax.CallExpr)
	switch {
	case s.Background || s.Coprocess || s.Disown:
		return nil, errors.New("running in the background (&) is not allowed")
	case s.Negated:
		return nil, errors.New("negation (!) is not allowed")
	case len(s.Redirs) > 0:
		return nil, fmt.Errorf("redirection (%s) is not allowed", s.Redirs[0].Op)
	case !simple:
		return nil, fmt.Errorf("only one simple command is allowed, not %s", construct(s.Cmd))
	case s.Semicolon.IsValid():
		return nil, errors.New("a semicolon is not allowed")
	case len(call.Assigns) > 0:
		return nil, errors.New("setting variables (NAME=value) is not allowed")
	}
	words := make([]string, 0, len(call.Args))
	for _, w := range call.Args {
		text, err := literal(w)
		if err != nil {
			return nil, err
		}
		words = append(words, text)
	}
	return words, nil
}

// literal returns the text of a word that no shell would expand.
func literal(w *syntax.Word) (string, error) {
	var b strings.Builder
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if i := strings.IndexAny(p.Value, "*?[]{}~^!"); i >= 0 {
				return "", fmt.Errorf("%q is not expanded here; write the names out, or quote it", p.Value[i:i+1])
			}
			b.WriteString(p.Value)
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", errors.New("$'…' is not allowed; use plain quotes")
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			if p.Dollar {
				return "", errors.New(`$"…" is not allowed; use plain quotes`)
			}
			for _, inner := range p.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok {
					return "", fmt.Errorf("%s is not allowed in a command", construct(inner))
				}
				b.WriteString(lit.Value)
			}
		default:
			return "", fmt.Errorf("%s is not allowed in a command", construct(part))
		}
	}
	return b.String(), nil
}

// construct names a piece of shell syntax for people.
func construct(n syntax.Node) string {
	switch n := n.(type) {
	case *syntax.BinaryCmd:
		return fmt.Sprintf("a chain of commands (%s)", n.Op)
	case *syntax.ParamExp:
		return "a variable ($…)"
	case *syntax.CmdSubst:
		return "command substitution ($(…))"
	case *syntax.ProcSubst:
		return "process substitution"
	case *syntax.ArithmExp, *syntax.ArithmCmd:
		return "arithmetic"
	case *syntax.ExtGlob:
		return "a file pattern"
	case *syntax.Subshell, *syntax.Block:
		return "a group of commands"
	case *syntax.FuncDecl:
		return "a function"
	case *syntax.TimeClause, *syntax.CoprocClause, *syntax.DeclClause, *syntax.LetClause, *syntax.TestClause:
		return "a shell keyword"
	case *syntax.IfClause, *syntax.WhileClause, *syntax.ForClause, *syntax.CaseClause:
		return "a shell loop or condition"
	}
	return "this shell construct"
}
