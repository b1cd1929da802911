package policy

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

// stricterKeys are what a rule may say that makes one of the program stricter.
var stricterKeys = []string{"name", "effect", "approvers", "requester"}

// stricter is the rule of the program that a rule of a file is to make stricter; nil when it is a rule
// of its own.
func (p *ruleFile) stricter(name string, fields map[string]*yaml.Node) *rule {
	i := slices.IndexFunc(p.program, func(r rule) bool { return r.Name == name })
	if i < 0 {
		return nil
	}
	for _, key := range ruleKeys {
		if v := fields[key]; v != nil && !slices.Contains(stricterKeys, key) {
			p.wrong(v, "%s: the rule is part of the program, which only effect, approvers and requester can make stricter; a rule of your own needs another name", key)
		}
	}
	return &p.program[i]
}

// parseStricter returns a rule of the program with the effect that a file gives it.
func (p *ruleFile) parseStricter(r rule, n *yaml.Node, fields map[string]*yaml.Node) rule {
	was := r.Effect
	r.file, r.line, r.builtin, r.stricter = p.source.Name, n.Line, false, true
	r.Effect = p.effect(n, fields["effect"])
	if r.Effect.rank() < was.rank() {
		p.wrong(fields["effect"], "effect: the rule is part of the program, with the effect %s, and can only be made stricter", was)
	}
	r.Approvers, r.Requester = 0, true
	p.parseApproval(&r, fields["approvers"], fields["requester"])
	return r
}

// merged adds the rules of a file to those before them. One that makes a rule of the program stricter
// takes its place, if no other one has.
func merged(rules, more []rule) []rule {
	for _, r := range more {
		i := slices.IndexFunc(rules, func(o rule) bool { return r.stricter && o.builtin && o.Name == r.Name })
		if i < 0 {
			rules = append(rules, r)
			continue
		}
		rules[i] = r
	}
	return rules
}
