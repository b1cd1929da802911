package policy

import (
	"slices"
	"strings"
)

// index finds the rules that may select a call: each rule is filed under its most selective
// list, and under always when it has none. Rules on something else than calls are not in it.
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
		if rules[n].Phase != OnCall {
			continue
		}
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
