package roster

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/internal/suggest"
	"github.com/svc-gateway/svc/scanner"
)

// suspicious refuses a file that reads like an injection: an instruction that somebody else planted. What
// is found with low confidence is a literal phrase, which instructions may need.
func suspicious(file string, text []byte, scan func(string) []scanner.Finding) error {
	var mistakes []error
	for _, f := range scan(string(text)) {
		if f.Confidence != scanner.High {
			continue
		}
		line := 1 + strings.Count(string(text[:min(max(f.Start, 0), len(text))]), "\n")
		mistakes = append(mistakes, &Mistake{File: file, Line: line, Message: fmt.Sprintf(
			"this reads like an injection (%s, rule %s): %q; find out who wrote it, and word it otherwise if it is meant", f.Category, f.Rule, f.Excerpt)})
	}
	return errors.Join(mistakes...)
}

// check looks at what definitions name: tools, models, skills and each other.
func check(all []Definition, k Known) (mistakes []error) {
	byName := map[string]Definition{}
	var names []string
	for _, d := range all {
		byName[d.Name] = d
		names = append(names, d.Name)
	}
	for _, d := range all {
		wrong := func(field, format string, args ...any) {
			mistakes = append(mistakes, &Mistake{File: d.File, Line: d.fields[field], Field: field, Message: fmt.Sprintf(format, args...)})
		}
		for _, t := range d.Tools {
			switch {
			case t == agents.Delegate:
				wrong("tools", "%s comes with sub-agents and is not named: remove it", t)
			case slices.ContainsFunc(k.Later, func(prefix string) bool { return strings.HasPrefix(t, prefix) }):
			case !slices.Contains(k.Tools, t):
				wrong("tools", "there is no tool %q%s; the tools are %s", t, suggest.DidYouMean(t, k.Tools), list(k.Tools))
			}
		}
		for _, s := range d.Skills {
			if !slices.Contains(k.Skills, s) {
				wrong("skills", "there is no skill %q%s; the skills are %s", s, suggest.DidYouMean(s, k.Skills), list(k.Skills))
			}
		}
		if d.Model != "" && !slices.Contains(k.Models, d.Model) {
			wrong("model", "there is no model %q%s; set up is %s. Remove the key to use that one", d.Model, suggest.DidYouMean(d.Model, k.Models), list(k.Models))
		}
		for _, s := range d.Delegates {
			if _, ok := byName[s]; !ok {
				wrong("sub-agents", "there is no agent %q%s; the agents are %s", s, suggest.DidYouMean(s, names), list(names))
			}
		}
		for _, s := range d.Remote {
			if !slices.Contains(k.Remote, s) {
				wrong("sub-agents", "there is no remote agent %q%s; the remote agents are %s. The setting async_subagents lists them", s, suggest.DidYouMean(s, k.Remote), list(k.Remote))
			}
		}
		if d.Limits.Depth > 0 && len(d.Delegates) == 0 {
			wrong("limits", "depth has no effect without sub-agents: remove it")
		}
	}
	return append(mistakes, cycles(all, byName)...)
}

// cycles finds agents that would hand a task to themselves again. Each circle is told of once, at its
// first agent by name, or at the first that is the operator's.
func cycles(all []Definition, byName map[string]Definition) (mistakes []error) {
	done := map[string]bool{}
	var path []string
	var visit func(name string)
	visit = func(name string) {
		if i := slices.Index(path, name); i >= 0 {
			circle := path[i:]
			at := byName[circle[0]]
			for _, n := range circle {
				if byName[n].Own {
					at = byName[n]
					break
				}
			}
			mistakes = append(mistakes, &Mistake{File: at.File, Line: at.fields["sub-agents"], Field: "sub-agents", Message: fmt.Sprintf(
				"the task would go round: %s → %s; take one of them off its list", strings.Join(circle, " → "), name)})
			return
		}
		if done[name] {
			return
		}
		path = append(path, name)
		for _, next := range byName[name].Delegates {
			visit(next)
		}
		path = path[:len(path)-1]
		done[name] = true
	}
	for _, d := range all {
		visit(d.Name)
	}
	return mistakes
}

func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
