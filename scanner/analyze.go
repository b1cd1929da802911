package scanner

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// limits of a command line. A longer or deeper one is unknown.
const (
	maxCommand = 64 << 10 // bytes
	maxNesting = 8        // command lines within command lines: sh -c "sh -c …"
)

// AnalyzeCommand tells what a command line would do at worst. It is strict: what it does not
// know for certain to be harmless it does not call so. A line that cannot be parsed, a command
// whose name is only known at run time, an interpreter that reads a program from a pipe and a
// command that is not in the table are all [Unknown].
//
// Wrappers such as sudo, env, timeout, xargs and sh -c are taken off. Paths are judged by
// their text: absolute ones, those in the home folder and those that climb out with .. are
// outside of the root. Commands of network devices are judged by their first words.
func AnalyzeCommand(text string) Command {
	a := analysis{text: text}
	a.line(text, 0, nil)
	if a.result.Class == "" {
		a.raise(verdict{Unknown, "", "there is no command"}, place{0, len(text)})
	}
	slices.Sort(a.result.Categories)
	slices.SortStableFunc(a.result.Spans, func(x, y Span) int { return x.Start - y.Start })
	return a.result
}

// verdict is what one command, redirection or construct does.
type verdict struct {
	class    Class
	category string
	reason   string
}

// place is a range of bytes of the text.
type place struct{ start, end int }

// analysis is one run of AnalyzeCommand.
type analysis struct {
	text   string
	result Command
	depth  int
	away   bool // cd led out of the root, or may have
}

// severity orders the classes.
func severity(c Class) int { return slices.Index([]Class{"", ReadOnly, Mutate, Unknown, Dangerous}, c) }

// raise adds a verdict.
func (a *analysis) raise(v verdict, p place) {
	if a.away && v.class == Mutate {
		v = verdict{Dangerous, WriteOutsideRoot, v.reason + " in another folder"}
	}
	if severity(v.class) > severity(a.result.Class) {
		a.result.Class = v.class
	}
	if v.class == ReadOnly {
		return
	}
	if v.category != "" && !slices.Contains(a.result.Categories, v.category) {
		a.result.Categories = append(a.result.Categories, v.category)
	}
	if s := (Span{p.start, p.end, v.category, v.reason}); v.reason != "" && !slices.Contains(a.result.Spans, s) {
		a.result.Spans = append(a.result.Spans, s)
	}
}

// line analyses a command line at the offset of the text, or, where it was quoted, at a place.
func (a *analysis) line(text string, offset int, at *place) {
	whole := place{offset, offset + len(text)}
	if at != nil {
		whole = *at
	}
	if len(text) > maxCommand || a.depth == maxNesting {
		a.raise(verdict{Unknown, "", "the command line is too long or too deep"}, whole)
		return
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		a.raise(verdict{Unknown, "", "the command line cannot be parsed"}, whole)
		a.device(text, whole)
		return
	}
	a.depth++
	w := shell{analysis: a, text: text, offset: offset, at: at}
	for _, s := range file.Stmts {
		w.stmt(s)
	}
	a.depth--
}

// device judges the lines of a text that is no shell command, such as "do reload".
func (a *analysis) device(text string, at place) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) > 1 && fields[0] == "do" {
			fields = fields[1:]
		}
		if len(fields) == 0 {
			continue
		}
		args := make(call, len(fields)-1)
		for i, f := range fields[1:] {
			args[i].text = f
		}
		if v, ok := judgeDevice(fields[0], args); ok {
			a.raise(v, at)
		}
	}
}

// shell walks over the syntax of one command line.
type shell struct {
	*analysis
	text   string
	offset int
	at     *place
}

// place returns where a node stands in the original text.
func (w *shell) place(n syntax.Node) place {
	if w.at != nil {
		return *w.at
	}
	return place{w.offset + int(n.Pos().Offset()), w.offset + int(n.End().Offset())}
}

func (w *shell) stmt(s *syntax.Stmt) {
	for _, r := range s.Redirs {
		w.redirect(r)
	}
	if s.Cmd == nil {
		w.inner(s)
		return
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		w.call(c, s)
	case *syntax.BinaryCmd:
		w.stmt(c.X)
		w.stmt(c.Y)
		if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
			w.pipe(c.Y)
		}
	case *syntax.FuncDecl:
		w.raise(verdict{Unknown, "", "it defines a function"}, w.place(c))
		w.stmt(c.Body)
	case *syntax.CoprocClause:
		w.raise(verdict{Unknown, "", "it starts a coprocess"}, w.place(c))
		w.stmt(c.Stmt)
	default:
		w.inner(s.Cmd)
	}
}

// inner analyses the statements and words within any other node.
func (w *shell) inner(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			if n.Cmd == nil {
				return true
			}
			w.stmt(n)
			return false
		case *syntax.Redirect:
			return false
		case *syntax.Assign:
			w.raise(assignment(n), w.place(n))
		case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.TestClause, *syntax.LetClause:
			w.raise(verdict{class: ReadOnly}, place{})
		}
		return true
	})
}

// pipe judges the receiving end of a pipe.
func (w *shell) pipe(s *syntax.Stmt) {
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok {
		return
	}
	args := w.words(c.Args)
	for range maxNesting {
		if len(args) == 0 {
			return
		}
		inner, ok := unwrap(args)
		if !ok {
			break
		}
		args = inner
	}
	if len(args) > 0 && interpreters.has([]byte(baseName(args[0].text))) && readsProgram(args[1:]) {
		w.raise(verdict{Unknown, "", "an interpreter runs what comes out of the pipe"}, w.place(s))
	}
}

// call judges a simple command.
func (w *shell) call(c *syntax.CallExpr, s *syntax.Stmt) {
	at := w.place(c)
	for _, assign := range c.Assigns {
		w.raise(assignment(assign), w.place(assign))
		w.inner(assign)
	}
	for _, word := range c.Args {
		w.substitutions(word)
	}
	if len(c.Args) > 0 {
		w.command(w.words(c.Args), at, s)
	}
}

// substitutions analyses the commands that are run to make a word.
func (w *shell) substitutions(word *syntax.Word) {
	syntax.Walk(word, func(n syntax.Node) bool {
		if s, ok := n.(*syntax.Stmt); ok {
			w.stmt(s)
			return false
		}
		return true
	})
}

// command judges a command by its words; its wrappers are taken off.
func (w *shell) command(args []arg, at place, s *syntax.Stmt) {
	for range maxNesting {
		name := baseName(args[0].text)
		if args[0].dynamic {
			w.part("", args)
			w.raise(verdict{Unknown, "", "the command is only known at run time"}, at)
			return
		}
		if !knownFolder(args[0].text) {
			w.part(name, args)
			w.raise(verdict{Unknown, "", "the program does not come from a system folder"}, at)
			return
		}
		if line, ok := shellLine(name, args[1:]); ok {
			w.part(name, args)
			if line.dynamic {
				w.raise(verdict{Unknown, "", "a shell runs a line that is only known at run time"}, at)
				return
			}
			w.line(line.text, 0, &at)
			return
		}
		inner, ok := unwrap(args)
		if !ok {
			w.part(name, args)
			w.raise(judge(name, args[1:]), at)
			if name == "cd" && (len(args) != 2 || args[1].dynamic || outside(args[1].text)) {
				w.away = true
			}
			for _, rest := range executed(name, args[1:]) {
				if len(rest) > 0 {
					w.command(rest, at, s)
				}
			}
			return
		}
		if name == "sudo" || name == "doas" {
			w.raise(verdict{class: Mutate, reason: "it runs with other rights"}, at)
		}
		if len(inner) == 0 {
			w.part(name, args)
			w.raise(judge(name, args[1:]), at)
			return
		}
		args = inner
	}
	w.raise(verdict{Unknown, "", "there are too many wrappers"}, at)
}

// part records a simple command.
func (w *shell) part(name string, args []arg) {
	p := Part{Name: name}
	for i, x := range args {
		p.Dynamic = p.Dynamic || x.dynamic
		if i > 0 || name == "" {
			p.Args = append(p.Args, x.text)
		}
	}
	w.result.Parts = append(w.result.Parts, p)
}
