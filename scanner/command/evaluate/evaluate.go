// Package evaluate finds in a line of a shell what is evaluated as it runs, beyond what is written.
//
//	found := evaluate.Look(file)
//	found.Doubts(func(n syntax.Node, reason string) { … })
//
// # How
//
// Shells evaluate more than they show: what stands in arithmetic, in a subscript and behind -eq is read as
// an expression, and the value of a variable in it too, with the commands in its subscripts. And some of
// what one shell takes for an expression another runs. The syntax tree of the line is walked once.
//
// # Guarantees
//
// Without a doubt an expression only computes with numbers, and bash and dash read it alike. A variable is
// taken for a number only where all of the line gives it numbers.
//
// # Concurrency
//
// The functions are safe for concurrent use. The package does no I/O and keeps no state.
package evaluate

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/svc-gateway/svc/scanner/command/usage"
	"github.com/svc-gateway/svc/scanner/internal/text"
)

// Found is what a line evaluates.
type Found struct {
	Numbers map[string]bool // variables that hold numbers and nothing else: all of the line gives them numbers, and what expressions compute
	Endless bool            // a loop has no end, or there are more words than fit

	doubtful []syntax.Node // what may be doubted, in the order of the line
}

// Look looks at a line.
func Look(file *syntax.File) (f Found) {
	var v values
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case nil:
			return true
		case *syntax.Word:
			if len(n.Parts) == 1 { // most words: there is nothing below
				if lit, ok := n.Parts[0].(*syntax.Lit); ok {
					f.Endless = f.Endless || endless(lit)
					return false
				}
			}
			return true
		case *syntax.ArithmCmd, *syntax.LetClause, *syntax.CStyleLoop, *syntax.ArithmExp, *syntax.WordIter, *syntax.ParamExp, *syntax.Assign, *syntax.DeclClause,
			*syntax.TestClause, *syntax.SglQuoted, *syntax.ExtGlob:
			f.doubtful = append(f.doubtful, n)
		}
		f.Endless = f.Endless || endless(n)
		v.note(n)
		return true
	})
	f.Numbers = v.onlyNumbers()
	return f
}

// Doubts calls tell for each part of the line of which it is not certain that it only computes, or that every
// shell reads it alike, with the reason.
func (f Found) Doubts(tell func(n syntax.Node, reason string)) {
	e := evaluation{f.Numbers}
	for _, n := range f.doubtful {
		if reason := e.doubt(n); reason != "" {
			tell(n, reason)
		}
	}
}

// evaluation knows which variables of a line hold numbers and nothing else.
type evaluation struct{ numbers map[string]bool }

// doubt says why a node is not certain to only compute, "" if it is.
func (e evaluation) doubt(n syntax.Node) string {
	switch n := n.(type) {
	case *syntax.ArithmCmd:
		return "another shell runs what stands in (( ))"
	case *syntax.LetClause:
		return "let evaluates what it is given"
	case *syntax.CStyleLoop:
		return "for (( )) is not known to every shell"
	case *syntax.ArithmExp:
		if !e.computes(n.X) {
			return "what an expression evaluates is only known at run time"
		}
	case *syntax.WordIter:
		if n.Name != nil && !usage.Local(n.Name.Value) && !usage.Harmless(n.Name.Value) {
			return "it sets a variable"
		}
	case *syntax.ParamExp:
		return e.param(n)
	case *syntax.Assign:
		if n.Index != nil && !e.computes(n.Index) {
			return "what a subscript evaluates is only known at run time"
		}
	case *syntax.DeclClause:
		if slices.ContainsFunc(n.Args, func(a *syntax.Assign) bool { return a.Name == nil || a.Naked && a.Value != nil }) {
			return n.Variant.Value + " with options does more than set a variable"
		}
	case *syntax.TestClause:
		return e.test(n.X)
	case *syntax.SglQuoted:
		if n.Dollar && strings.Contains(n.Value, `\'`) {
			return "another shell ends this text elsewhere"
		}
	case *syntax.ExtGlob:
		return "this pattern is not known to every shell"
	}
	return ""
}

func (e evaluation) param(n *syntax.ParamExp) string {
	switch {
	case n.Excl && n.Names == 0:
		return "the name of a variable is only known at run time"
	case n.Index != nil && !e.computes(n.Index):
		return "what a subscript evaluates is only known at run time"
	case n.Slice != nil && (!e.computes(n.Slice.Offset) || n.Slice.Length != nil && !e.computes(n.Slice.Length)):
		return "what an expression evaluates is only known at run time"
	case n.Exp == nil:
		return ""
	}
	switch op := n.Exp.Op; {
	case op == syntax.OtherParamOps:
		return "a variable is evaluated"
	case (op == syntax.AssignUnset || op == syntax.AssignUnsetOrNull) && n.Param != nil && !usage.Local(n.Param.Value):
		return "it sets a variable"
	}
	return ""
}

// test judges [[ … ]], of which another shell sees the words, redirections and lists.
func (e evaluation) test(x syntax.TestExpr) string {
	switch x := x.(type) {
	case *syntax.Word:
		return ""
	case *syntax.UnaryTest:
		if x.Op == syntax.TsVarSet || x.Op == syntax.TsRefVar {
			return "a test evaluates the name of a variable"
		}
		return e.test(x.X)
	case *syntax.BinaryTest:
		switch x.Op {
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			if !e.number(x.X) || !e.number(x.Y) {
				return "what a test evaluates is only known at run time"
			}
			return ""
		case syntax.TsBefore, syntax.TsAfter:
			return "another shell redirects here"
		case syntax.AndTest, syntax.OrTest:
			return "another shell runs what follows"
		}
		return ""
	}
	return "another shell runs what stands in brackets"
}

func (e evaluation) number(x syntax.TestExpr) bool {
	word, ok := x.(*syntax.Word)
	return ok && e.computes(word)
}

// computes reports whether an expression only computes: numbers, variables that hold numbers, what certain
// programs print.
func (e evaluation) computes(x syntax.ArithmExpr) bool {
	switch x := x.(type) {
	case *syntax.BinaryArithm:
		if x.Op == syntax.Assgn || strings.HasSuffix(x.Op.String(), "=") && !slices.Contains([]string{"==", "!=", "<=", ">="}, x.Op.String()) {
			name, ok := x.X.(*syntax.Word)
			return ok && usage.Local(name.Lit()) && e.computes(x.Y)
		}
		return e.computes(x.X) && e.computes(x.Y)
	case *syntax.UnaryArithm:
		if x.Op == syntax.Inc || x.Op == syntax.Dec {
			name, ok := x.X.(*syntax.Word)
			return ok && usage.Local(name.Lit()) && e.computes(name)
		}
		return e.computes(x.X)
	case *syntax.ParenArithm:
		return e.computes(x.X)
	case *syntax.Word:
		return e.computed(x.Parts)
	}
	return false
}

func (e evaluation) computed(parts []syntax.WordPart) bool {
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if _, err := strconv.ParseInt(p.Value, 0, 64); err != nil && !e.numbers[p.Value] && p.Value != "@" && p.Value != "*" && !constantBase.MatchString(p.Value) {
				return false
			}
		case *syntax.DblQuoted:
			if !e.computed(p.Parts) {
				return false
			}
		case *syntax.ParamExp:
			if p.Length {
				continue
			}
			if p.Param == nil || !e.numbers[p.Param.Value] && !numberNames.HasString(p.Param.Value) || p.Exp != nil && p.Exp.Op == syntax.OtherParamOps {
				return false
			}
		case *syntax.ArithmExp:
			if !e.computes(p.X) {
				return false
			}
		case *syntax.CmdSubst:
			if !counts(p.Stmts) {
				return false
			}
		default:
			return false
		}
	}
	return len(parts) > 0
}

var constantBase = regexp.MustCompile(`^\d+#[0-9a-zA-Z]+$`)

// counts reports whether statements print a number and nothing else.
func counts(stmts []*syntax.Stmt) bool {
	if len(stmts) != 1 {
		return false
	}
	switch c := stmts[0].Cmd.(type) {
	case *syntax.BinaryCmd:
		return c.Op == syntax.Pipe && counts([]*syntax.Stmt{c.Y})
	case *syntax.CallExpr:
		words := make([]string, len(c.Args))
		for i, word := range c.Args {
			if words[i] = word.Lit(); words[i] == "" {
				return false
			}
		}
		line := strings.Join(words, " ")
		return len(c.Assigns) == 0 && countLines[line]
	}
	return false
}

// countLines are the counters, as lines.
var countLines = func() map[string]bool {
	table := make(map[string]bool)
	for line := range strings.SplitSeq("nproc|date +%s|id -u|id -g|tput cols|tput lines|date +%s%N|date +%Y|getconf _NPROCESSORS_ONLN|wc -l|wc -c|wc -w|grep -c .|stat -c %s", "|") {
		table[line] = true
	}
	return table
}()

// values are the variables of a line, by what they are given.
type values struct{ numbers, other map[string]bool }

// note notes what a node gives variables.
func (v *values) note(n syntax.Node) {
	switch n := n.(type) {
	case *syntax.Assign:
		if n.Name != nil {
			v.given(n.Name.Value, n.Value != nil && !n.Append && n.Array == nil && isNumber(n.Value))
		}
	case *syntax.WordIter:
		if n.Name != nil {
			v.given(n.Name.Value, len(n.Items) > 0 && !slices.ContainsFunc(n.Items, func(item *syntax.Word) bool { return !isNumber(item) }))
		}
	case *syntax.CallExpr:
		if len(n.Args) > 0 && setters.HasString(n.Args[0].Lit()) {
			for _, a := range n.Args[1:] {
				v.given(a.Lit(), false)
			}
		}
	case *syntax.ParamExp:
		if n.Exp != nil && n.Param != nil && (n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull) {
			v.given(n.Param.Value, false)
		}
	}
}

func (v *values) given(name string, number bool) {
	list := &v.other
	if number {
		list = &v.numbers
	}
	if *list == nil {
		*list = make(map[string]bool)
	}
	(*list)[name] = true
}

// onlyNumbers returns the variables that hold numbers and nothing else.
func (v *values) onlyNumbers() map[string]bool {
	for name := range v.other {
		delete(v.numbers, name)
	}
	return v.numbers
}

var (
	// setters are commands that set variables they are given the names of.
	setters = text.Words("read mapfile readarray printf getopts eval source . unset")
	// numberNames are variables of the shell that hold numbers.
	numberNames = text.Words("# ? $ ! RANDOM SECONDS LINENO UID EUID PPID EPOCHSECONDS BASHPID SHLVL")
)

var numberWord = regexp.MustCompile(`^(?:-?\d+|\{-?\d+\.\.-?\d+\})$`)

func isNumber(word *syntax.Word) bool {
	if lit := word.Lit(); lit != "" {
		return numberWord.MatchString(lit)
	}
	if len(word.Parts) == 1 {
		switch p := word.Parts[0].(type) {
		case *syntax.ArithmExp:
			return true
		case *syntax.CmdSubst:
			return counts(p.Stmts) || seqs(p.Stmts)
		}
	}
	return false
}

// seqs reports whether statements are a seq of numbers.
func seqs(stmts []*syntax.Stmt) bool {
	if len(stmts) != 1 {
		return false
	}
	c, ok := stmts[0].Cmd.(*syntax.CallExpr)
	return ok && len(c.Args) > 1 && c.Args[0].Lit() == "seq" && !slices.ContainsFunc(c.Args[1:], func(a *syntax.Word) bool { return !numberWord.MatchString(a.Lit()) })
}

var flood = regexp.MustCompile(`\{-?\d+\.\.-?\d{7,}\}`)

// endless reports whether a node is a loop without an end, or makes more words than fit.
func endless(n syntax.Node) bool {
	switch n := n.(type) {
	case *syntax.WhileClause:
		if len(n.Cond) == 1 {
			if c, ok := n.Cond[0].Cmd.(*syntax.CallExpr); ok && len(c.Args) == 1 {
				name := c.Args[0].Lit()
				return !n.Until && (name == ":" || name == "true") || n.Until && name == "false"
			}
		}
	case *syntax.CStyleLoop:
		return n.Cond == nil
	case *syntax.Lit:
		return strings.Contains(n.Value, "..") && flood.MatchString(n.Value)
	}
	return false
}
