package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/svc-gateway/svc/scanner/command"
)

// Engine decides with one table and one set of rules. Get one with [New]; a nil Engine denies
// everything.
type Engine struct {
	grants   []grant
	rules    []rule
	index    index
	hash     string
	counts   bool                         // a rule asks for a counter
	requests []int                        // rules on requests
	outputs  []int                        // rules on answers
	granted  map[Role]map[Action][]string // the reasons of plain permissions, made once
}

// New returns the engine over the permission table, the rules that are part of the program and those
// of rule files, in this order. Its error joins all mistakes, each a [Mistake].
func New(files ...Source) (*Engine, error) {
	rules, err := parseRules(Builtin())
	if err != nil {
		return nil, fmt.Errorf("loading embedded rules: %w", err)
	}
	for i := range rules {
		rules[i].builtin = true
	}
	var mistakes []error
	program := len(rules)
	for _, s := range files {
		more, err := parseRules(s, rules[:program]...)
		if err != nil {
			mistakes = append(mistakes, err)
			continue
		}
		rules = merged(rules, more)
	}
	mistakes = append(mistakes, unique(rules))
	if err := errors.Join(mistakes...); err != nil {
		return nil, err
	}
	return newEngine(table[:], rules)
}

// unique returns what is wrong with the rules together.
func unique(rules []rule) error {
	if len(rules) > maxRules {
		return &Mistake{File: rules[maxRules].file, Message: fmt.Sprintf("the policy has %d rules, of %d at most", len(rules), maxRules)}
	}
	seen := map[string]*rule{}
	var mistakes []error
	for i := range rules {
		r := &rules[i]
		if first := seen[r.Name]; first != nil {
			mistakes = append(mistakes, &Mistake{r.file, r.line, 1, r.Name, fmt.Sprintf("name: another rule has it already: %s:%d", first.file, first.line)})
			continue
		}
		seen[r.Name] = r
	}
	return errors.Join(mistakes...)
}

func newEngine(grants []grant, rules []rule) (*Engine, error) {
	doc, err := json.Marshal(struct {
		Table []grant `json:"table"`
		Rules []rule  `json:"rules"`
	}{grants, rules})
	if err != nil {
		return nil, fmt.Errorf("hashing the policy: %w", err)
	}
	sum := sha256.Sum256(doc)
	e := &Engine{
		grants:  grants,
		rules:   rules,
		index:   newIndex(rules),
		hash:    hex.EncodeToString(sum[:]),
		granted: map[Role]map[Action][]string{},
		counts:  slices.ContainsFunc(rules, func(r rule) bool { return r.expression != nil && r.expression.counts }),
	}
	for n := range rules {
		switch rules[n].Phase {
		case OnRequest:
			e.requests = append(e.requests, n)
		case OnOutput:
			e.outputs = append(e.outputs, n)
		}
	}
	for _, r := range Roles() {
		e.granted[r] = map[Action][]string{}
		for _, a := range Actions() {
			e.granted[r][a] = []string{fmt.Sprintf("permission: role %s may %s", r, a)}
		}
	}
	return e, nil
}

// Hash returns the SHA-256 (hex) of the table and the rules. It changes with what they mean,
// not with comments or layout, and is the same in every process. Empty for a nil Engine.
func (e *Engine) Hash() string {
	if e == nil {
		return ""
	}
	return e.hash
}

// question is what is looked up for an [Input].
type question struct {
	Triple
	categories []string // of the call and of its command
}

// ask derives the question from the input. A tool without a skill is its own skill, and an
// action never is weaker than what the command analysis found: a command that is not known
// to only read cannot pass as use.
func ask(in *Input) question {
	q := question{Triple{in.Agent, in.Skill, in.Action}, in.Categories}
	if q.Skill == "" {
		q.Skill = in.Tool
	}
	if c := in.Command; c != nil {
		if q.Action == Use && c.Class != command.ReadOnly {
			q.Action = Mutate
		}
		if len(q.categories) == 0 {
			q.categories = c.Categories
		} else if len(c.Categories) > 0 {
			q.categories = slices.Concat(q.categories, c.Categories)
		}
	}
	return q
}

// Decide answers what becomes of a call: the table first, then every rule that its match
// selects. The strongest effect counts; the reasons name all that applied.
func (e *Engine) Decide(in Input) Decision {
	if e == nil {
		return none()
	}
	q := ask(&in)
	if !permitted(e.grants, in.Principal.Role, q.Triple) || in.Tool == "" {
		return Decision{
			Effect: Deny, Rule: RulePermission, Message: "The role does not permit this.", Severity: Medium,
			Code: CodePermission, Reasons: []string{refusal(&in, &q)}, PolicyHash: e.hash,
		}
	}
	d := Decision{Effect: Allow, Reasons: e.granted[in.Principal.Role][q.Action], PolicyHash: e.hash}
	e.tighten(&d, &in, &q)
	return d
}

// none is the decision without a policy.
func none() Decision {
	return Decision{
		Effect: Deny, Rule: RulePolicy, Message: "There is no policy to decide with.",
		Severity: Critical, Code: CodeUnavailable, Reasons: []string{"policy: none is loaded"},
	}
}

// refusal says why the table does not grant the triple.
func refusal(in *Input, q *question) string {
	switch {
	case in.Agent == "":
		return "permission: the call names no agent"
	case in.Tool == "":
		return "permission: the call names no tool"
	case in.Principal.Role.rank() == 0:
		return fmt.Sprintf("permission: unknown role %q", in.Principal.Role)
	case !q.Action.Known():
		return fmt.Sprintf("permission: unknown action %q", q.Action)
	case q.Action != in.Action:
		return fmt.Sprintf("permission: role %s may not %s (agent %s, skill %s; command class %s)",
			in.Principal.Role, q.Action, q.Agent, q.Skill, in.Command.Class)
	}
	return fmt.Sprintf("permission: role %s may not %s (agent %s, skill %s)",
		in.Principal.Role, q.Action, q.Agent, q.Skill)
}
