package policy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"
	"go.yaml.in/yaml/v3"
)

// rule is one entry of a rule file.
type rule struct {
	Name string `yaml:"name" json:"name"` // unique; lower case, digits and hyphens
	// Match selects the calls that the rule looks at. An empty list, like the entry "*",
	// selects all; within a list one entry suffices, all lists must select.
	Match match `yaml:"match" json:"match"`
	// When is a boolean expression (expr-lang) over [env]; empty is true. One that cannot be
	// evaluated denies the call.
	When     string   `yaml:"when" json:"when"`
	Effect   Effect   `yaml:"effect" json:"effect"`     // deny, approve or log
	Message  string   `yaml:"message" json:"message"`   // for people; required
	Severity Severity `yaml:"severity" json:"severity"` // default medium

	program *vm.Program // of When; nil when it is empty
	builtin bool        // part of the program
}

// match is the part of a rule that can be looked up without evaluating anything.
type match struct {
	Agents     []string `yaml:"agents" json:"agents"`
	Tools      []string `yaml:"tools" json:"tools"`
	Actions    []string `yaml:"actions" json:"actions"`
	Categories []string `yaml:"categories" json:"categories"`
}

var ruleName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// parseRules reads one rule file. Unknown keys, a second document, duplicate names and
// whatever could make a rule silently never apply are errors that start with "file:line".
func parseRules(file string, doc []byte) ([]rule, error) {
	d := yaml.NewDecoder(bytes.NewReader(doc))
	d.KnownFields(true)
	var rules []rule
	if err := d.Decode(&rules); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("reading %s: one list of rules is allowed, a second document follows", file)
	}
	var nodes yaml.Node
	if err := yaml.Unmarshal(doc, &nodes); err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	seen := map[string]bool{}
	for i := range rules {
		r := &rules[i]
		err := r.compile()
		if err == nil && seen[r.Name] {
			err = errors.New("name: another rule has it already")
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: rule %q: %w", file, nodes.Content[0].Content[i].Line, r.Name, err)
		}
		seen[r.Name] = true
	}
	return rules, nil
}

// compile checks the rule, fills in defaults and compiles its expression.
func (r *rule) compile() error {
	if !ruleName.MatchString(r.Name) || r.Name == RulePermission || r.Name == RulePolicy {
		return errors.New("name: want lower case letters, digits and hyphens, such as no-reboots")
	}
	switch r.Effect {
	case Deny, Approve, Log:
	case Allow:
		return errors.New("effect: rules only tighten what the permission table allows; want deny, approve or log")
	default:
		return fmt.Errorf("effect: unknown %q, want deny, approve or log", r.Effect)
	}
	if strings.TrimSpace(r.Message) == "" {
		return errors.New("message: missing; say to people what is the matter")
	}
	switch r.Severity {
	case "":
		r.Severity = Medium
	case Low, Medium, High, Critical:
	default:
		return fmt.Errorf("severity: unknown %q, want low, medium, high or critical", r.Severity)
	}
	for _, a := range r.Match.Actions {
		if a != Any && !Action(a).Known() {
			return fmt.Errorf("match.actions: unknown %q, want some of %v", a, Actions())
		}
	}
	for _, list := range r.Match.lists() {
		if slices.Contains(list, "") {
			return errors.New("match: an empty name never matches; remove it")
		}
	}
	return r.compileWhen()
}

func (r *rule) compileWhen() error {
	if strings.TrimSpace(r.When) == "" {
		r.When = ""
		return nil
	}
	// Without the clock an expression gives equal answers for equal inputs.
	p, err := expr.Compile(r.When, expr.Env(&env{}), expr.AsBool(), expr.WarnOnAny(), expr.DisableBuiltin("now"))
	if err != nil {
		return fmt.Errorf("when: %w", err)
	}
	r.program = p
	return nil
}

func (m *match) lists() [4][]string {
	return [4][]string{m.Categories, m.Tools, m.Agents, m.Actions}
}

// wild reports whether a list of a match selects everything.
func wild(list []string) bool { return len(list) == 0 || slices.Contains(list, Any) }

// selects reports whether the list selects at least one of the names.
func selects(list, names []string) bool {
	return wild(list) || slices.ContainsFunc(names, func(n string) bool { return slices.Contains(list, n) })
}
