package policy

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm"
)

// clause is a part of an expression that is true or false by itself. The clauses of an expression
// are a tree of and, or and not.
type clause struct {
	op      string // "and", "or", "not"; empty for a leaf
	parts   []*clause
	text    string
	program *vm.Program // of a leaf; nil when it cannot stand alone
	reads   []reading
}

// reading is a name of the input in a leaf.
type reading struct {
	name    string
	program *vm.Program
}

// newClause takes an expression apart.
func newClause(l *language, n ast.Node) *clause {
	c := &clause{text: n.String()}
	switch n := n.(type) {
	case *ast.UnaryNode:
		if n.Operator == "not" || n.Operator == "!" {
			c.op, c.parts = "not", []*clause{newClause(l, n.Node)}
			return c
		}
	case *ast.BinaryNode:
		switch n.Operator {
		case "and", "&&":
			c.op = "and"
		case "or", "||":
			c.op = "or"
		}
		if c.op != "" {
			c.parts = []*clause{newClause(l, n.Left), newClause(l, n.Right)}
			return c
		}
	}
	var err error
	if c.program, err = expr.Compile(c.text, l.condition()...); err != nil {
		c.program = nil
	}
	r := resolver{language: l}
	r.visit(n, scope{})
	for _, path := range r.reads {
		name := strings.Join(path, ".")
		if slices.ContainsFunc(c.reads, func(r reading) bool { return r.name == name }) || name == "" {
			continue
		}
		text := name
		if t := l.vars[name]; t != nil && t.Kind() == reflect.Func {
			text += "()"
		}
		if p, err := expr.Compile(text, l.options...); err == nil {
			c.reads = append(c.reads, reading{name, p})
		}
	}
	return c
}

// Clause is a part of a rule's expression that decided, with what it read.
type Clause struct {
	Text   string  `json:"text"`
	Result bool    `json:"result"`
	Values []Value `json:"values,omitempty"`
}

// Value is something that a clause read.
type Value struct {
	Name string `json:"name"`
	JSON string `json:"value"` // cut to 300 bytes
}

// String returns the clause with its values, on one line.
func (c Clause) String() string {
	text := c.Text
	if !c.Result {
		text = "not (" + text + ")"
	}
	for i, v := range c.Values {
		sep := ", "
		if i == 0 {
			sep = " with "
		}
		text += sep + v.Name + " = " + v.JSON
	}
	return text
}

// deciding returns the clauses that made this one true, or false.
func (c *clause) deciding(env any, show shower) []Clause {
	result := c.value(env)
	switch {
	case c.op == "not":
		return c.parts[0].deciding(env, show)
	case c.op == "and" && !result, c.op == "or" && result:
		for _, p := range c.parts { // the first one settles it
			if p.value(env) == result {
				return p.deciding(env, show)
			}
		}
	case c.op != "":
		var all []Clause
		for _, p := range c.parts {
			all = append(all, p.deciding(env, show)...)
		}
		return all
	}
	leaf := Clause{Text: c.text, Result: result}
	for _, r := range c.reads {
		if v, err := expr.Run(r.program, env); err == nil {
			leaf.Values = append(leaf.Values, Value{r.name, show(r.name, v)})
		}
	}
	return []Clause{leaf}
}

// value is what the clause comes to; what cannot be evaluated is false.
func (c *clause) value(env any) bool {
	switch c.op {
	case "not":
		return !c.parts[0].value(env)
	case "and":
		return c.parts[0].value(env) && c.parts[1].value(env)
	case "or":
		return c.parts[0].value(env) || c.parts[1].value(env)
	}
	if c.program == nil {
		return true
	}
	v, err := expr.Run(c.program, env)
	return err == nil && v == true
}

const (
	maxShown = 300      // bytes of a value in an explanation
	maxValue = 64 << 10 // bytes of one that is looked at at all
)

// render makes JSON of a value. It is shown under its last name, so that show knows a secret by it.
func render(name string, v any, show func([]byte) []byte) string {
	doc, err := encode(v)
	if err != nil || len(doc) > maxValue {
		return `"…"`
	}
	if show != nil {
		key := name[strings.LastIndexByte(name, '.')+1:]
		doc, err = encode(map[string]json.RawMessage{key: doc})
		if err != nil {
			return `"…"`
		}
		var shown map[string]json.RawMessage
		if err := json.Unmarshal(show(doc), &shown); err != nil || len(shown) != 1 {
			return `"…"`
		}
		for _, doc = range shown {
		}
	}
	if len(doc) > maxShown {
		return strings.ToValidUTF8(string(doc[:maxShown]), "") + "…"
	}
	return string(doc)
}

// encode makes JSON of a value as people write it: < stays <.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
