package policy

import (
	"errors"
	"slices"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/file"
)

// index finds the rules that may select a call: each rule is filed under its most selective
// list, and under always when it has none.
type index struct {
	lists  [4]map[string][]int // categories, tools, agents, actions: name → rules
	always []int
}

func newIndex(rules []rule) index {
	var x index
	for i := range x.lists {
		x.lists[i] = map[string][]int{}
	}
	for n := range rules {
		lists := rules[n].Match.lists()
		i := slices.IndexFunc(lists[:], func(l []string) bool { return !wild(l) })
		if i < 0 {
			x.always = append(x.always, n)
			continue
		}
		for _, name := range lists[i] {
			x.lists[i][name] = append(x.lists[i][name], n)
		}
	}
	return x
}

// candidates appends the numbers of the rules that may select the call, in file order.
func (x *index) candidates(dst []int, in *Input, q *question) []int {
	dst = append(dst, x.always...)
	for _, c := range q.categories {
		dst = append(dst, x.lists[0][c]...)
	}
	dst = append(dst, x.lists[1][in.Tool]...)
	dst = append(dst, x.lists[2][in.Agent]...)
	dst = append(dst, x.lists[3][string(q.Action)]...)
	slices.Sort(dst)
	return slices.Compact(dst)
}

// selects reports whether all lists of the match select the call.
func (m *match) selects(in *Input, q *question) bool {
	return selects(m.Categories, q.categories) &&
		(wild(m.Tools) || slices.Contains(m.Tools, in.Tool)) &&
		(wild(m.Agents) || slices.Contains(m.Agents, in.Agent)) &&
		(wild(m.Actions) || slices.Contains(m.Actions, string(q.Action)))
}

// tighten applies the rules to a decision that the table allowed.
func (e *Engine) tighten(d *Decision, in *Input, q *question) {
	var (
		room    [16]int
		vars    *env
		reasons []string
		others  bool // rules that are not of the program ask for approval
	)
	for _, n := range e.index.candidates(room[:0], in, q) {
		r := &e.rules[n]
		if !r.Match.selects(in, q) {
			continue
		}
		effect, reason := r.Effect, ""
		if r.program != nil {
			if vars == nil {
				vars = newEnv(in, q)
			}
			applies, err := expr.Run(r.program, vars)
			if err != nil {
				effect, reason = Deny, "rule "+r.Name+": when cannot be evaluated: "+cause(err)
			} else if applies != true {
				continue
			}
		}
		if reason == "" {
			reason = "rule " + r.Name + ": " + r.criterion(in, q)
		}
		reasons = append(reasons, reason)
		others = others || effect == Approve && !r.builtin
		if effect.rank() > d.Effect.rank() {
			d.Effect, d.Rule, d.Message, d.Severity = effect, r.Name, r.Message, r.Severity
		}
	}
	d.Builtin = d.Effect == Approve && !others
	if reasons != nil {
		d.Reasons = append(reasons, d.Reasons...)
	}
}

// criterion says what of the call made the rule apply.
func (r *rule) criterion(in *Input, q *question) string {
	var parts []string
	if !wild(r.Match.Categories) {
		for _, c := range q.categories {
			if slices.Contains(r.Match.Categories, c) {
				parts = append(parts, "category "+c)
			}
		}
	}
	if !wild(r.Match.Tools) {
		parts = append(parts, "tool "+in.Tool)
	}
	if !wild(r.Match.Agents) {
		parts = append(parts, "agent "+q.Agent)
	}
	if !wild(r.Match.Actions) {
		parts = append(parts, "action "+string(q.Action))
	}
	if r.When != "" {
		parts = append(parts, "when "+r.When)
	}
	if parts == nil {
		return "every call"
	}
	return strings.Join(parts, ", ")
}

// maxCause bounds what of an error goes into a reason; it may quote an argument.
const maxCause = 120

// cause returns what went wrong, without the excerpt of the expression.
func cause(err error) string {
	text := err.Error()
	if e, ok := errors.AsType[*file.Error](err); ok {
		text = e.Message
	}
	text, _, _ = strings.Cut(text, "\n")
	if len(text) > maxCause {
		text = text[:maxCause] + "…"
	}
	return strings.ToValidUTF8(text, "")
}
