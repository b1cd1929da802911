package policy

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/svc-gateway/svc/internal/suggest"
)

// maxDepth is how deep predicates may be nested: each level multiplies the work with the length of
// a list, and lists come from a model.
const maxDepth = 2

// resolver looks at the names of an expression before expr does: it knows which phase a name
// belongs to and what was probably meant, and notes what is read.
type resolver struct {
	*language
	reads  [][]string // of the input: {"arguments", "path"}
	counts bool       // count or sum is called
	fault  *fault     // the first
}

// scope is what an expression sees beside the input.
type scope struct {
	vars    map[string]reflect.Type // declared with let
	pointer reflect.Type            // of # in a predicate; nil when it is not known
	depth   int                     // of predicates
}

func (r *resolver) wrong(n ast.Node, format string, args ...any) {
	if r.fault == nil {
		r.fault = &fault{n.Location().From, fmt.Sprintf(format, args...)}
	}
}

// visit resolves the names of a node and returns its type; nil when it is not known.
func (r *resolver) visit(n ast.Node, s scope) reflect.Type {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		if t, declared := s.vars[n.Value]; declared {
			return t
		}
		t, known := r.vars[n.Value]
		if !known {
			r.wrong(n, "unknown name %s%s", n.Value, r.hint(n.Value))
		}
		r.reads = append(r.reads, []string{n.Value})
		return t
	case *ast.MemberNode:
		return r.member(n, s)
	case *ast.ChainNode:
		return r.visit(n.Node, s)
	case *ast.PointerNode:
		if n.Name == "" {
			return s.pointer
		}
	case *ast.CallNode:
		return r.call(n, s)
	case *ast.BuiltinNode:
		return r.builtin(n, s)
	case *ast.PredicateNode:
		r.visit(n.Node, s)
	case *ast.VariableDeclaratorNode:
		inner := s
		inner.vars = map[string]reflect.Type{n.Name: r.visit(n.Value, s)}
		for name, t := range s.vars {
			if name != n.Name {
				inner.vars[name] = t
			}
		}
		return r.visit(n.Expr, inner)
	case *ast.UnaryNode:
		r.visit(n.Node, s)
	case *ast.BinaryNode:
		r.all(s, n.Left, n.Right)
	case *ast.SliceNode:
		t := r.visit(n.Node, s)
		r.all(s, n.From, n.To)
		return t
	case *ast.ConditionalNode:
		r.all(s, n.Cond, n.Exp1, n.Exp2)
	case *ast.SequenceNode:
		r.all(s, n.Nodes...)
	case *ast.ArrayNode:
		r.all(s, n.Nodes...)
	case *ast.MapNode:
		r.all(s, n.Pairs...)
	case *ast.PairNode:
		r.all(s, n.Key, n.Value)
	}
	return nil
}

func (r *resolver) all(s scope, nodes ...ast.Node) {
	for _, n := range nodes {
		if n != nil {
			r.visit(n, s)
		}
	}
}

// member resolves a.b and a[b].
func (r *resolver) member(n *ast.MemberNode, s scope) reflect.Type {
	before := len(r.reads)
	t := r.visit(n.Node, s)
	name, named := n.Property.(*ast.StringNode)
	if !named {
		r.visit(n.Property, s)
	} else if len(r.reads) == before+1 && isChain(n.Node) {
		r.reads[before] = append(r.reads[before], name.Value) // the name is part of what is read
	}
	if t == nil {
		return nil
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Map:
		if !named || t.Kind() == reflect.Map {
			return concrete(t.Elem())
		}
	case reflect.Struct:
		if named {
			known := fields(t)
			field, ok := known[name.Value]
			if !ok {
				r.wrong(name, "%s has no field %s%s", n.Node, name.Value, suggest.DidYouMean(name.Value, sorted(known)))
			}
			return field
		}
	}
	return nil
}

// isChain reports whether a node is a name of the input followed by names only.
func isChain(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return true
	case *ast.ChainNode:
		return isChain(n.Node)
	case *ast.MemberNode:
		_, named := n.Property.(*ast.StringNode)
		return named && isChain(n.Node)
	}
	return false
}

func (r *resolver) call(n *ast.CallNode, s scope) (result reflect.Type) {
	if name, ok := n.Callee.(*ast.IdentifierNode); ok {
		if t := r.vars[name.Value]; !slices.Contains(ownNames, name.Value) && (t == nil || t.Kind() != reflect.Func) {
			r.wrong(n, "unknown name %s: there is no such function%s", name.Value, suggest.DidYouMean(name.Value, r.functions()))
		}
		switch {
		case slices.Contains(counterNames, name.Value):
			r.counter(name.Value, n)
		case slices.Contains(targetNames, name.Value) && r.vars[name.Value] != nil:
			r.reads = append(r.reads, []string{"targets"})
			if name.Value == "targets" {
				result = r.vars[name.Value].Out(0)
			}
		case name.Value == "untrusted" && r.vars[name.Value] != nil:
			r.reads = append(r.reads, []string{"labels"})
		case name.Value == "may" && len(n.Arguments) == 1:
			if a, ok := n.Arguments[0].(*ast.StringNode); ok && !Action(a.Value).Known() {
				r.wrong(a, "may(%q): unknown action, want one of %v", a.Value, Actions())
			}
		}
	} else {
		r.visit(n.Callee, s)
		r.wrong(n, "only functions can be called")
	}
	r.all(s, n.Arguments...)
	return result
}

// counter checks the window of a counter, which has to be known when the rule is loaded.
func (r *resolver) counter(name string, n *ast.CallNode) {
	r.counts = true
	if len(n.Arguments) < 2 {
		return // the compiler says how many it wants
	}
	window, ok := n.Arguments[1].(*ast.StringNode)
	if !ok {
		r.wrong(n.Arguments[1], "%s: the window must be written out, such as \"1h\"", name)
		return
	}
	if _, err := parseWindow(window.Value); err != nil {
		r.wrong(window, "%s: %s", name, err)
	}
}

func (r *resolver) builtin(n *ast.BuiltinNode, s scope) reflect.Type {
	if !slices.Contains(functions, n.Name) {
		r.wrong(n, "unknown name %s: there is no such function%s", n.Name, suggest.DidYouMean(n.Name, r.functions()))
	}
	var list, element reflect.Type
	for i, arg := range n.Arguments {
		inner := s
		if _, ok := arg.(*ast.PredicateNode); ok {
			inner.pointer, inner.depth = element, s.depth+1
			if inner.depth > maxDepth {
				r.wrong(arg, "predicates are nested more than %d deep", maxDepth)
			}
		}
		t := r.visit(arg, inner)
		if i == 0 && t != nil && t.Kind() == reflect.Slice {
			list, element = t, concrete(t.Elem())
		}
	}
	switch n.Name {
	case "filter":
		return list
	case "find", "first", "last":
		return element
	}
	return nil
}

// ownNames are the names of ownFunctions.
var ownNames = []string{"under"}

// functions are all functions of the language.
func (l *language) functions() []string {
	all := slices.Concat(functions, ownNames)
	for name, t := range l.vars {
		if t.Kind() == reflect.Func {
			all = append(all, name)
		}
	}
	return all
}

// hint says what was probably meant by a name that there is not.
func (l *language) hint(name string) string {
	for _, other := range []*language{callLanguage, requestLanguage, outputLanguage} {
		if _, known := other.vars[name]; known && other != l {
			return fmt.Sprintf(": it is known of %s, and this is about %s", other.phase, l.phase)
		}
	}
	for _, known := range l.names() {
		if _, field, dotted := strings.Cut(known, "."); dotted && field == name {
			return "; did you mean " + known + "?"
		}
	}
	return suggest.DidYouMean(name, l.names())
}

// concrete is t, or nil when values of it can be anything.
func concrete(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Interface {
		return nil
	}
	return t
}

func sorted(m map[string]reflect.Type) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
