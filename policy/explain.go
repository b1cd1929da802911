package policy

import (
	"fmt"
	"slices"
	"strings"
)

// Trace tells what one rule makes of a call.
type Trace struct {
	Rule     string   `json:"rule"`
	File     string   `json:"file"`
	Line     int      `json:"line"`
	Effect   Effect   `json:"effect"` // of the rule, when it applies
	Mode     Mode     `json:"mode"`
	Selected bool     `json:"selected"`          // its match selects the call
	Why      string   `json:"why"`               // what selected it, or what kept it from it
	Applies  bool     `json:"applies"`           // and its expression is true, or cannot be evaluated
	Error    string   `json:"error,omitempty"`   // why it cannot be evaluated
	Because  []Clause `json:"because,omitempty"` // what decided the expression
}

// Explain tells what each rule on calls makes of a call, in the order of the files, whether the table permits
// the call or not. show redacts a JSON document; nil shows values as they are. An empty list means
// that there are no rules.
func (e *Engine) Explain(in Input, show func([]byte) []byte) []Trace {
	if e == nil {
		return nil
	}
	q := ask(&in)
	vars := newEnv(&in, &q)
	shown := guarded(&in, show)
	all := []Trace{}
	for i := range e.rules {
		if r := &e.rules[i]; r.Phase == OnCall {
			all = append(all, r.trace(vars, &in, &q, shown))
		}
	}
	return all
}

// Because tells, for each rule that applied to a call, which part of its expression decided and with
// what values. The text is for whoever runs the service: it holds what show leaves of the call.
func (e *Engine) Because(in Input, show func([]byte) []byte) []string {
	if e == nil {
		return nil
	}
	q := ask(&in)
	if !permitted(e.grants, in.Principal.Role, q.Triple) {
		return nil
	}
	var (
		room  [16]int
		all   []string
		vars  *env
		shown shower
	)
	for _, n := range e.index.candidates(room[:0], &in, &q) {
		r := &e.rules[n]
		if r.expression == nil || !r.Match.selects(&in, &q) {
			continue
		}
		if vars == nil {
			vars, shown = newEnv(&in, &q), guarded(&in, show)
		}
		if t := r.trace(vars, &in, &q, shown); t.Applies && t.Error == "" {
			all = append(all, "because of "+r.Name+": "+join(t.Because))
		}
	}
	return all
}

func join(clauses []Clause) string {
	texts := make([]string, len(clauses))
	for i, c := range clauses {
		texts[i] = c.String()
	}
	return strings.Join(texts, "; ")
}

// shower makes text of what an expression read.
type shower func(name string, v any) string

// guarded shows values without their secrets. What was made of arguments with a secret is not shown.
func guarded(in *Input, redact func([]byte) []byte) shower {
	hide := redact != nil && secretive(in, redact)
	return func(name string, v any) string {
		root, _, _ := strings.Cut(name, ".")
		if hide && (root == "paths" || root == "command" || root == "targets") {
			return `"REDACTED"`
		}
		return render(name, v, redact)
	}
}

func (r *rule) trace(vars *env, in *Input, q *question, show shower) Trace {
	t := Trace{Rule: r.Name, File: r.file, Line: r.line, Effect: r.Effect, Mode: r.Mode}
	if t.Why = r.Match.refusal(in, q); t.Why != "" {
		return t
	}
	t.Selected, t.Why = true, r.criterion(in, q)
	applies, err := r.evaluate(vars, in)
	switch {
	case err != nil:
		t.Applies, t.Effect, t.Error = true, Deny, cause(err)
		return t
	case r.expression != nil:
		t.Because = r.expression.clause.deciding(vars, show)
	}
	t.Applies = applies
	return t
}

// refusal says which list of the match does not select the call; "" when all do.
func (m *match) refusal(in *Input, q *question) string {
	for _, list := range []struct {
		key          string
		want, actual []string
	}{
		{"agents", m.Agents, []string{in.Agent}},
		{"tools", m.Tools, []string{in.Tool}},
		{"actions", m.Actions, []string{string(q.Action)}},
		{"categories", m.Categories, q.categories},
	} {
		if !selects(list.want, list.actual) {
			return fmt.Sprintf("%s: %s is none of %s", list.key, orNothing(list.actual), strings.Join(list.want, ", "))
		}
	}
	return ""
}

func orNothing(names []string) string {
	if len(names) == 0 || slices.Equal(names, []string{""}) {
		return "nothing"
	}
	return strings.Join(names, ", ")
}
