package policy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/svc-gateway/svc/internal/suggest"
)

// What a rule file may hold.
const (
	maxFile      = 256 << 10 // bytes
	maxRules     = 2000      // of a policy
	maxName      = 64        // characters of a rule's name
	maxMessage   = 500       // bytes
	maxEntries   = 200       // of a list of match
	maxApprovers = 10
)

var (
	ruleName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

	ruleKeys  = []string{"name", "phase", "match", "when", "effect", "mode", "approvers", "requester", "severity", "message"}
	matchKeys = []string{"agents", "tools", "actions", "categories"}
)

// ruleFile reads one rule file.
type ruleFile struct {
	source   Source
	mistakes []error
	rule     string // that is being read
	program  []rule // those that are part of the program and can be made stricter by name
}

// parseRules reads one rule file. Unknown keys, a second document, duplicate names and whatever
// could make a rule silently never apply are a [Mistake] each; all of them are returned, joined.
// A rule with the name of one of program, and nothing but what makes it stricter, takes its place.
func parseRules(s Source, program ...rule) ([]rule, error) {
	p := &ruleFile{source: s, program: program}
	if len(s.Text) > maxFile {
		return nil, &Mistake{File: s.Name, Message: fmt.Sprintf("the file has %d bytes, of %d at most", len(s.Text), maxFile)}
	}
	var doc, more yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(s.Text))
	switch err := d.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, &Mistake{File: s.Name, Message: "this is not YAML: " + err.Error()}
	}
	if err := d.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, &Mistake{File: s.Name, Message: "one list of rules is allowed, a second document follows"}
	}
	var rules []rule
	if list := p.list(doc.Content[0], "a list of rules, each beginning with - name:"); list != nil {
		for _, n := range list {
			rules = append(rules, p.parseRule(n))
		}
	}
	if err := errors.Join(p.mistakes...); err != nil {
		return nil, err
	}
	return rules, nil
}

func (p *ruleFile) wrong(n *yaml.Node, format string, args ...any) {
	p.mistakes = append(p.mistakes, &Mistake{p.source.Name, n.Line, n.Column, p.rule, fmt.Sprintf(format, args...)})
}

// parseRule reads one rule and fills in defaults.
func (p *ruleFile) parseRule(n *yaml.Node) rule {
	p.rule = nameOf(n)
	r := rule{Phase: OnCall, Mode: Enforce, Severity: Medium, Requester: true, file: p.source.Name, line: n.Line}
	fields := p.mapping(n, "", "a rule", ruleKeys)
	if fields == nil {
		return r
	}
	if v := fields["name"]; v != nil {
		r.Name = p.text(v, "name")
	}
	if len(r.Name) > maxName || !ruleName.MatchString(r.Name) || r.Name == RulePermission || r.Name == RulePolicy {
		p.wrong(or(fields["name"], n), "name: want lower case letters, digits and hyphens, at most %d, such as no-reboots", maxName)
	}
	if b := p.stricter(r.Name, fields); b != nil {
		return p.parseStricter(*b, n, fields)
	}
	if v := fields["phase"]; v != nil {
		r.Phase = Phase(p.word(v, "phase", string(OnCall), string(OnRequest), string(OnOutput)))
	}
	if v := fields["match"]; v != nil {
		r.Match = p.parseMatch(v)
		if r.Phase != OnCall {
			p.wrong(v, "match: it is of calls, and this is about %s; say it in when", r.Phase.language().phase)
		}
	}
	r.Effect = p.effect(n, fields["effect"])
	if r.Effect == Approve && r.Phase != OnCall {
		p.wrong(or(fields["effect"], n), "effect: %s does not wait for an approval; want deny or log", r.Phase.language().phase)
	}
	if v := fields["mode"]; v != nil {
		r.Mode = Mode(p.word(v, "mode", string(Enforce), string(Observe)))
	}
	if v := fields["severity"]; v != nil {
		r.Severity = Severity(p.word(v, "severity", string(Low), string(Medium), string(High), string(Critical)))
	}
	if v := fields["message"]; v != nil {
		r.Message = strings.TrimSpace(p.text(v, "message"))
	}
	if r.Message == "" || len(r.Message) > maxMessage {
		p.wrong(or(fields["message"], n), "message: missing, or longer than %d bytes; say to people what is the matter", maxMessage)
	}
	p.parseApproval(&r, fields["approvers"], fields["requester"])
	if v := fields["when"]; v != nil {
		p.parseWhen(&r, v)
	}
	return r
}

// nameOf is what a rule says its name is, for mistakes in it.
func nameOf(rule *yaml.Node) string {
	for i := 0; rule.Kind == yaml.MappingNode && i+1 < len(rule.Content); i += 2 {
		if rule.Content[i].Value == "name" && len(rule.Content[i+1].Value) <= maxName {
			return rule.Content[i+1].Value
		}
	}
	return ""
}

// or returns the node, or else the one that it is missing from.
func or(n, parent *yaml.Node) *yaml.Node {
	if n != nil {
		return n
	}
	return parent
}

func (p *ruleFile) effect(rule, v *yaml.Node) Effect {
	if v == nil {
		p.wrong(rule, "effect: missing, want deny, approve or log")
		return Deny
	}
	if v.Kind == yaml.ScalarNode && v.Value == string(Allow) {
		p.wrong(v, "effect: rules only tighten what the permission table allows; want deny, approve or log")
		return Deny
	}
	return Effect(p.word(v, "effect", string(Deny), string(Approve), string(Log)))
}

// parseApproval reads what a rule asks of an approval.
func (p *ruleFile) parseApproval(r *rule, approvers, requester *yaml.Node) {
	if r.Effect != Approve {
		for key, n := range map[string]*yaml.Node{"approvers": approvers, "requester": requester} {
			if n != nil {
				p.wrong(n, "%s: only of use with effect: approve", key)
			}
		}
		return
	}
	r.Approvers = 1
	if approvers != nil {
		n, err := strconv.Atoi(p.text(approvers, "approvers"))
		if err != nil || n < 1 || n > maxApprovers {
			p.wrong(approvers, "approvers: %q is not a number of people from 1 to %d", approvers.Value, maxApprovers)
			n = 1
		}
		r.Approvers = n
	}
	if requester != nil {
		r.Requester = p.word(requester, "requester", "true", "false") == "true"
	}
}

func (p *ruleFile) parseMatch(n *yaml.Node) match {
	fields := p.mapping(n, "match.", "match", matchKeys)
	m := match{
		Agents:     p.names(fields["agents"], "match.agents"),
		Tools:      p.names(fields["tools"], "match.tools"),
		Categories: p.names(fields["categories"], "match.categories"),
	}
	if v := fields["actions"]; v != nil {
		known := []string{Any}
		for _, a := range Actions() {
			known = append(known, string(a))
		}
		m.Actions = p.names(v, "match.actions")
		for i, a := range m.Actions {
			if !slices.Contains(known, a) {
				p.wrong(v.Content[i], "match.actions: unknown %q, want some of %v%s", a, Actions(), suggest.DidYouMean(a, known))
			}
		}
	}
	return m
}

// names reads a list of names.
func (p *ruleFile) names(n *yaml.Node, key string) []string {
	if n == nil {
		return nil
	}
	var all []string
	list := p.list(n, key+": a list of names such as [core]")
	if len(list) > maxEntries {
		p.wrong(n, "%s: %d entries, of %d at most", key, len(list), maxEntries)
		return nil
	}
	for _, e := range list {
		name := p.text(e, key)
		if strings.TrimSpace(name) != name || name == "" {
			p.wrong(e, "%s: %q never matches: an empty name, or blanks around one; remove them", key, name)
		}
		all = append(all, name)
	}
	return all
}

func (p *ruleFile) parseWhen(r *rule, v *yaml.Node) {
	text := p.text(v, "when")
	if strings.TrimSpace(text) == "" {
		return
	}
	e, err := compile(r.Phase.language(), text)
	if err != nil {
		m := &Mistake{p.source.Name, v.Line, v.Column, r.Name, "when: " + err.Error()}
		if fault, ok := errors.AsType[*fault](err); ok && fault.at >= 0 {
			m.Line, m.Column = position(p.source.Text, v, fault.at)
		}
		p.mistakes = append(p.mistakes, m)
		return
	}
	r.When, r.expression = strings.TrimSpace(text), e
}

// mapping returns the values of a mapping by key. Keys that are unknown or there twice are mistakes.
func (p *ruleFile) mapping(n *yaml.Node, prefix, what string, known []string) map[string]*yaml.Node {
	if n.Kind != yaml.MappingNode {
		p.wrong(n, "%s is a mapping of %s", what, strings.Join(known, ", "))
		return nil
	}
	fields := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		switch {
		case !slices.Contains(known, key.Value):
			p.wrong(key, "unknown key %s%s%s", prefix, key.Value, suggest.DidYouMean(key.Value, known))
		case fields[key.Value] != nil:
			p.wrong(key, "%s%s: it is there already, in line %d", prefix, key.Value, fields[key.Value].Line)
		default:
			fields[key.Value] = n.Content[i+1]
		}
	}
	return fields
}

// list returns the entries of a sequence; nil when it is something else.
func (p *ruleFile) list(n *yaml.Node, want string) []*yaml.Node {
	switch {
	case n.Kind == yaml.SequenceNode:
		return n.Content
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
		return nil
	}
	p.wrong(n, "want %s", want)
	return nil
}

// text returns the value of a scalar.
func (p *ruleFile) text(n *yaml.Node, key string) string {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		p.wrong(n, "%s: want one value here, without an anchor or alias", key)
		return ""
	}
	return n.Value
}

// word returns one of the words that a scalar may be.
func (p *ruleFile) word(n *yaml.Node, key string, known ...string) string {
	got := p.text(n, key)
	if !slices.Contains(known, got) {
		p.wrong(n, "%s: unknown %q, want %s%s", key, got, strings.Join(known, " or "), suggest.DidYouMean(got, known))
		return known[0]
	}
	return got
}
