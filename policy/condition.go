package policy

import (
	"errors"
	"fmt"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
)

// Condition is a boolean expression (expr-lang) about a principal and the request that it
// sends, such as principal.role == "admin" or may("mutate"). Get one with [ParseCondition]; it
// is safe for concurrent use.
type Condition struct{ expression *expression }

// Request is what a [Condition] knows of an HTTP request, by the names in the tags.
type Request struct {
	Method string `expr:"method"`
	Scheme string `expr:"scheme"` // http or https
	Host   string `expr:"host"`   // as sent, with the port if there is one
	Path   string `expr:"path"`   // decoded, without empty, . and .. segments
	Query  string `expr:"query"`  // as sent, without the question mark
}

// conditionEnv is what an expression sees.
type conditionEnv struct {
	Principal principalEnv      `expr:"principal"`
	Request   Request           `expr:"request"`
	May       func(string) bool `expr:"may"` // asks the permission table about the principal's role
}

// ParseCondition compiles an expression. A misspelt name, an unknown action and an expression
// that is not boolean are errors.
func ParseCondition(text string) (*Condition, error) {
	if strings.TrimSpace(text) == "" {
		return nil, errors.New(`the expression is empty: want one such as principal.role == "admin"`)
	}
	e, err := compile(requestLanguage, text)
	if err != nil {
		return nil, fmt.Errorf("compiling the expression: %w", err)
	}
	tree, err := parser.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("compiling the expression: %w", err)
	}
	var actions askedActions
	ast.Walk(&tree.Node, &actions)
	for _, a := range actions {
		if !Action(a).Known() {
			return nil, fmt.Errorf("compiling the expression: may(%q): unknown action, want one of %v", a, Actions())
		}
	}
	return &Condition{e}, nil
}

// Holds evaluates the condition. An error means that it could not be: treat it as no.
func (c *Condition) Holds(p Principal, r Request) (bool, error) {
	holds, err := c.expression.run(&conditionEnv{
		Principal: newPrincipalEnv(&p),
		Request:   r,
		May:       func(action string) bool { return p.Role.May(Action(action)) },
	})
	if err != nil {
		return false, fmt.Errorf("evaluating the expression: %w", err)
	}
	return holds, nil
}

// askedActions collects the literal actions that an expression asks may about.
type askedActions []string

// Visit implements ast.Visitor.
func (a *askedActions) Visit(n *ast.Node) {
	call, ok := (*n).(*ast.CallNode)
	if !ok || len(call.Arguments) != 1 {
		return
	}
	name, isName := call.Callee.(*ast.IdentifierNode)
	action, isLiteral := call.Arguments[0].(*ast.StringNode)
	if isName && isLiteral && name.Value == "may" {
		*a = append(*a, action.Value)
	}
}
