package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/svc-gateway/svc/scanner/command/evaluate"
	"github.com/svc-gateway/svc/scanner/internal/text"
)

// shell walks over the syntax of one command line.
type shell struct {
	*analysis
	text     string
	offset   int
	at       *place
	params   []arg // $0, $1, …
	file     *syntax.File
	assigned *map[string]int // how often the line assigns a variable, once that was asked
	branches int             // loops, conditions and functions around the command
	in       piped           // what the command reads
	found    evaluate.Found  // what of the line is evaluated
	handedTo string          // the command that assignments are handed to
}

// place returns where a node stands in the original text.
func (w *shell) place(n syntax.Node) place {
	if w.at != nil {
		return *w.at
	}
	return place{w.offset + int(n.Pos().Offset()), w.offset + int(n.End().Offset())}
}

func (w *shell) stmt(s *syntax.Stmt) {
	if !w.stepped(1) {
		return
	}
	before := w.in
	defer func() { w.in = before }()
	for _, r := range s.Redirs {
		if !w.stepped(perWord / 2) {
			return
		}
		w.redirect(r)
	}
	switch c := s.Cmd.(type) {
	case nil:
	case *syntax.CallExpr:
		w.keeps(s, w.call(c))
	case *syntax.BinaryCmd:
		w.stmt(c.X)
		if !w.stepped(1) { // what follows looks at all of the pipe again
			return
		}
		if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
			if c.Op == syntax.Pipe && !w.host && w.fromDevice(c.X) {
				if w.filter(c.Y) {
					return
				}
				w.raise(unknown("what a device does with its output is not known"), w.place(c.Y))
			}
			w.in = w.output(c.X, w.in)
			w.branch(func() { w.stmt(c.Y) })
			return
		}
		w.branch(func() { w.stmt(c.Y) })
	case *syntax.FuncDecl:
		w.declare(c)
	case *syntax.CoprocClause:
		w.raise(unknown("it starts a coprocess"), w.place(c))
		w.stmt(c.Stmt)
	case *syntax.Block, *syntax.DeclClause:
		w.inner(c)
	default:
		w.branch(func() { w.inner(c) })
	}
}

// branch does something that may happen, or more than once, or in another process.
func (w *shell) branch(f func()) {
	w.branches++
	f()
	w.branches--
}

// inner analyses the statements and words within any other node.
func (w *shell) inner(n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			w.stmt(n)
			return false
		case *syntax.Redirect:
			return false
		case *syntax.WordIter:
			if args := w.words(n.Items); len(args) > 0 {
				first := args[0]
				for _, a := range args[1:] { // the body runs with each; the worst cannot be told without running it with all
					first.text += " " + a.text
				}
				w.set(n.Name.Value, first, false)
			}
		case *syntax.Assign:
			w.assign(n, false)
		case *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.TestClause, *syntax.LetClause:
			if _, ok := n.(*syntax.TestClause); ok {
				w.beyond = true // which files it looks at is not looked at
			}
			w.raise(verdict{class: ReadOnly}, place{})
		case *syntax.SglQuoted:
			w.subscript(n.Value, w.place(n))
		}
		return true
	})
}

// call judges a simple command, and returns its words.
func (w *shell) call(c *syntax.CallExpr) []arg {
	if w.handedTo = ""; len(c.Args) > 0 {
		w.handedTo = c.Args[0].Lit()
	}
	for _, a := range c.Assigns {
		if !w.stepped(perGuess) {
			return nil
		}
		w.assign(a, len(c.Args) > 0)
		w.inner(a)
	}
	for _, word := range c.Args {
		w.substitutions(word)
	}
	before := w.work
	args := w.words(c.Args)
	cost := w.work - before
	if len(args) > 0 {
		w.command(args, w.place(c))
	}
	if !w.stepped(cost) { // they are looked at again
		return nil
	}
	return args
}

// keeps remembers the files in which a command puts what it loads from elsewhere.
func (w *shell) keeps(s *syntax.Stmt, args call) {
	if len(args) == 0 || !w.printed(args, w.in).remote {
		return
	}
	for _, r := range s.Redirs {
		if r.Word != nil && (r.Op == syntax.RdrOut || r.Op == syntax.AppOut || r.Op == syntax.RdrClob) {
			w.loaded[w.word(r.Word).text] = true
		}
	}
	if file, ok := args.value("o", "O", "--output", "--output-document"); ok {
		w.loaded[strings.TrimPrefix(file.text, "./")] = true
		w.loaded[file.text] = true
	}
	w.loaded[baseName(args.last())] = true // wget u/x, curl -O u/x
}

// expressions are commands that read their arguments as expressions or names of variables.
var expressions = text.Words("test [ let printf unset read wait declare typeset local export readonly mapfile")

// subscript judges a quoted text that a shell reads again as an expression, such as a[$(x)].
func (w *shell) subscript(text string, at place) {
	if strings.Contains(text, "$(") || strings.Contains(text, "`") {
		w.raise(unknown("a quoted command may be run by an expression"), at)
		w.script(strings.NewReplacer("[", "\n", "]", "\n").Replace(text), true, at)
	}
}

// substitutions analyses the commands that are run to make a word.
func (w *shell) substitutions(word *syntax.Word) {
	if _, ok := bare(word); ok {
		return
	}
	syntax.Walk(word, func(n syntax.Node) bool {
		if s, ok := n.(*syntax.Stmt); ok {
			w.branch(func() { w.stmt(s) })
			return false
		}
		return true
	})
}

// command judges a command by its words; its wrappers are taken off.
func (w *shell) command(args []arg, at place) {
	for len(args) > 0 && w.stepped(perCommand+perWord*len(args)) {
		name := baseName(args[0].text)
		switch {
		case args[0].dynamic:
			w.record("", args)
			w.raise(unknown("the command is only known at run time"), at)
			w.probably(args, at)
			return
		case strings.HasPrefix(args[0].text, "/etc/init.d/") || strings.HasPrefix(args[0].text, "/etc/rc.d/"):
			args = append([]arg{{text: "service"}, {text: name}}, args[1:]...)
			continue
		case !knownFolder(args[0].text):
			w.record(name, args)
			w.raise(unknown("the program does not come from a system folder"), at)
			if w.loaded[strings.TrimPrefix(args[0].text, "./")] {
				w.raise(dangerous(RemoteCode, "it runs what comes from elsewhere"), at)
			}
			w.suspect(append([]arg{{text: name}}, args[1:]...), at)
			return
		case w.run(name, args):
			return
		case w.interprets(name, args, at):
			return
		}
		inner, ok := w.unwrap(args, at)
		if !ok {
			w.record(name, args)
			w.raise(w.judge(name, args[1:]), at)
			if expressions.HasString(name) {
				for _, a := range args[1:] {
					w.subscript(a.text, at)
				}
			}
			if name == "cd" && (len(args) != 2 || args[1].dynamic || args[1].text == "-" || outside(args[1].text)) {
				w.away = true
			}
			return
		}
		args = inner
	}
}

// record records a simple command.
func (w *shell) record(name string, args []arg) {
	if w.guessing > 0 {
		return
	}
	w.confine(name, args[min(1, len(args)):])
	w.lookAt(name, args[min(1, len(args)):])
	p := Part{Name: name}
	for i, x := range args {
		p.Dynamic = p.Dynamic || x.dynamic
		if i > 0 || name == "" {
			p.Args = append(p.Args, x.written())
		}
	}
	w.result.Parts = append(w.result.Parts, p)
}
