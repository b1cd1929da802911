package policy

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
)

// How large an expression may be.
const (
	maxWhen  = 4 << 10 // bytes
	maxNodes = 300     // names, values, operators and calls
)

// expression is a compiled boolean expression.
type expression struct {
	program *vm.Program
	clause  *clause    // its parts, for explanations
	reads   [][]string // names of the input that it reads: {"arguments", "path"}
	counts  bool       // it calls count or sum
	time    bool       // it reads the time
}

// fault is what is wrong with an expression, and at which of its characters (from 0); -1 when it is
// none in particular.
type fault struct {
	at      int
	message string
}

func (f *fault) Error() string { return f.message }

// compile checks and compiles an expression. Its error is a [fault].
func compile(l *language, text string) (*expression, error) {
	switch {
	case len(text) > maxWhen:
		return nil, &fault{-1, fmt.Sprintf("the expression has %d bytes, of %d at most", len(text), maxWhen)}
	case !utf8.ValidString(text):
		return nil, &fault{-1, "the expression is not valid UTF-8"}
	}
	tree, err := parser.ParseWithConfig(text, l.config())
	if err != nil {
		return nil, asFault(err, text)
	}
	r := resolver{language: l}
	r.visit(tree.Node, scope{})
	if r.fault != nil {
		return nil, r.fault
	}
	clauses := newClause(l, tree.Node) // before expr rewrites the nodes
	program, err := expr.Compile(text, l.condition()...)
	if err != nil {
		return nil, asFault(err, text)
	}
	reads := func(name string) bool {
		return slices.ContainsFunc(r.reads, func(path []string) bool { return path[0] == name })
	}
	return &expression{program, clauses, r.reads, r.counts, reads("time")}, nil
}

// asFault is the error of the compiler with the character that it is about.
func asFault(err error, text string) *fault {
	e, ok := errors.AsType[*file.Error](err)
	if !ok {
		return &fault{-1, err.Error()}
	}
	return &fault{min(max(e.From, 0), utf8.RuneCountInString(text)), e.Message}
}

// machines run expressions. One is made ready again each time that it begins.
var machines = sync.Pool{New: func() any { return new(vm.VM) }}

// run evaluates the expression.
func (e *expression) run(env any) (bool, error) {
	m := machines.Get().(*vm.VM)
	defer machines.Put(m)
	result, err := m.Run(e.program, env)
	if err != nil {
		return false, err
	}
	return result == true, nil
}

// holds evaluates the expression at a time, which must be known if it is read.
func (e *expression) holds(env any, at time.Time) (bool, error) {
	if e.time && at.IsZero() {
		return false, errNoTime
	}
	return e.run(env)
}

// touches reports whether the expression reads something in, or around, the given part of the input.
func (e *expression) touches(part []string) bool {
	return slices.ContainsFunc(e.reads, func(read []string) bool {
		n := min(len(read), len(part))
		return slices.Equal(read[:n], part[:n])
	})
}
