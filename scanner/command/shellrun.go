package command

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"
)

// function is a function of a command line.
type function struct {
	body   *syntax.Stmt
	owner  *shell
	called bool // it is being called
}

// declare judges the definition of a function; its body is judged again where it is called.
func (w *shell) declare(c *syntax.FuncDecl) {
	if !w.stepped(int(c.Body.End().Offset() - c.Body.Pos().Offset())) { // all of its body is looked at once more
		return
	}
	w.raise(unknown("it defines a function"), w.place(c))
	if c.Name == nil {
		w.branch(func() { w.stmt(c.Body) })
		return
	}
	name := c.Name.Value
	w.functions[name] = &function{body: c.Body, owner: w}
	again := 0
	syntax.Walk(c.Body, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 && call.Args[0].Lit() == name {
			again++
		}
		return true
	})
	if again > 1 {
		w.raise(dangerous(Shutdown, "a function that starts itself more than once brings the host down"), w.place(c))
	}
	w.branch(func() { w.stmt(c.Body) })
}

// run judges the call of a function of the line.
func (w *shell) run(name string, args []arg) bool {
	f := w.functions[name]
	if f == nil || f.called || w.depth == maxNesting {
		return false
	}
	f.called = true
	w.depth++
	inner := *f.owner
	inner.params, inner.in = args, w.in
	inner.branches++
	inner.stmt(f.body)
	w.depth--
	f.called = false
	return true
}

// probably judges what a command with a name that is only known at run time may be: the name
// without what is not known of it.
func (w *shell) probably(args []arg, at place) {
	name := withoutHoles(args[0].text)
	if name == "" {
		w.suspect(args[1:], at)
		return
	}
	w.suspect(append([]arg{{text: name}}, args[1:]...), at)
}

// suspect judges words that may be a command. Only what is dangerous counts.
func (w *shell) suspect(args []arg, at place) {
	if len(args) == 0 {
		return
	}
	w.maybe(at, func(a *analysis) {
		inner := *w
		inner.analysis = a
		inner.command(args, at)
	})
}

// maybe analyses what is not certain to happen. Only what is dangerous counts, and what writes.
func (w *shell) maybe(at place, f func(a *analysis)) {
	if w.guessing == maxNesting {
		w.raise(dangerous("", "the command line is too entangled to be told apart"), at)
		return
	}
	a := *w.analysis
	a.guessing++
	a.result, a.effects, a.told = Command{}, nil, make(map[Span]bool)
	f(&a)
	w.work = min(a.work, w.budget)
	for _, e := range a.effects {
		if e.class == Dangerous || e.write != "" {
			w.raise(e.verdict, place{e.start, e.end})
		}
	}
}

// sub runs words as a command line of their own, as ssh does: joined by spaces.
func (w *shell) sub(args []arg, at place) {
	text := ""
	dynamic := false
	for i, a := range args {
		if i > 0 {
			text += " "
		}
		dynamic = dynamic || a.dynamic
		text += a.text
	}
	if dynamic {
		w.raise(unknown("a line is run that is only known at run time"), at)
	}
	w.script(text, dynamic, at)
}

// script analyses a line that is run by a shell. Of one that is not certain only what is
// dangerous counts.
func (w *shell) script(text string, dynamic bool, at place, params ...arg) {
	if !dynamic {
		w.analyze(text, 0, &at, params...)
		return
	}
	w.maybe(at, func(a *analysis) { a.analyze(withoutHoles(text), 0, &at, params...) })
}

// assignments counts how often the line assigns each variable.
func (w *shell) assignments() map[string]int {
	if w.assigned == nil {
		return nil
	}
	if *w.assigned != nil {
		return *w.assigned
	}
	count := make(map[string]int)
	*w.assigned = count
	syntax.Walk(w.file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name != nil {
				count[n.Name.Value]++
			}
		case *syntax.WordIter:
			count[n.Name.Value] += 2
		case *syntax.CallExpr:
			if len(n.Args) > 0 && slices.Contains([]string{"read", "mapfile", "readarray", "unset", "eval", "source", ".", "printf", "getopts", "let"}, n.Args[0].Lit()) {
				for _, a := range n.Args[1:] {
					count[a.Lit()]++
				}
			}
		}
		return true
	})
	return count
}
