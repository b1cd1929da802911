// Package cases tests a policy: calls, and what is to become of them.
//
//	all, err := cases.Parse("policy_test.yaml", text)
//	for _, c := range all {
//		if wrong := c.Check(engine, complete(c.Call.Input())); wrong != "" { … }
//	}
//
// What a call names and leaves out has to be completed by somebody who knows the tools: the action,
// the analysis of a command, the paths. The package keeps nothing and may be used by many goroutines.
package cases

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/svc-gateway/svc/internal/suggest"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/provenance"
)

// Case is a call with what is to become of it.
type Case struct {
	Name string `yaml:"name"`
	Call Call   `yaml:"call"`
	Want Want   `yaml:"want"`
}

// Call is a call as people write it down.
type Call struct {
	User       string         `yaml:"user"` // default: somebody
	Role       string         `yaml:"role"` // default: user
	Groups     []string       `yaml:"groups"`
	Source     string         `yaml:"source"` // default: token
	OnBehalfOf string         `yaml:"on_behalf_of"`
	Address    string         `yaml:"address"`
	Agent      string         `yaml:"agent"` // default: core
	Tool       string         `yaml:"tool"`
	Skill      string         `yaml:"skill"`
	Action     string         `yaml:"action"` // default: what the tool declares for these arguments
	Arguments  map[string]any `yaml:"arguments"`
	Categories []string       `yaml:"categories"`
	Labels     []string       `yaml:"labels"`
	Said       string         `yaml:"said"`    // the user's words, for the sources of targets
	Paths      []string       `yaml:"paths"`   // default: what the tool finds in the arguments
	Targets    []Target       `yaml:"targets"` // default: what the tool finds in the arguments
	Time       string         `yaml:"time"`    // RFC 3339; default: now
	Counted    *float64       `yaml:"counted"`
}

// Target is one of the targets of a call.
type Target struct {
	Argument string `yaml:"argument"`
	Kind     string `yaml:"kind"`
	Value    string `yaml:"value"`
}

// Want is what is to become of a call. An empty field is not looked at.
type Want struct {
	Effect   string  `yaml:"effect"`
	Rule     string  `yaml:"rule"`
	Code     string  `yaml:"code"`
	Observed *string `yaml:"observed"` // a rule that only observes and applies
}

// Parse reads a file of cases. Its errors begin with the name of the file.
func Parse(file string, text []byte) ([]Case, error) {
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	var all []Case
	if err := d.Decode(&all); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: there are no cases in it: want a list with name, call and want", file)
	}
	for i, c := range all {
		if err := c.check(); err != nil {
			return nil, fmt.Errorf("%s: case %d, %q: %w", file, i+1, c.Name, err)
		}
	}
	return all, nil
}

func (c *Case) check() error {
	effects := []string{string(policy.Allow), string(policy.Log), string(policy.Approve), string(policy.Deny)}
	switch {
	case c.Name == "":
		return errors.New("name: missing")
	case c.Call.Tool == "":
		return errors.New("call.tool: missing")
	case c.Want == Want{}:
		return errors.New("want: missing: effect, rule, code or observed")
	case c.Want.Effect != "" && !slices.Contains(effects, c.Want.Effect):
		return fmt.Errorf("want.effect: unknown %q, want one of %s%s", c.Want.Effect, strings.Join(effects, ", "), suggest.DidYouMean(c.Want.Effect, effects))
	}
	_, err := c.Call.Input(time.Now())
	return err
}

// Input is the call as the policy sees it, without what only the tool knows.
func (c Call) Input(now time.Time) (policy.Input, error) {
	in := policy.Input{
		Principal: policy.Principal{
			User: or(c.User, "somebody"), Groups: c.Groups, Source: or(c.Source, policy.SourceToken), OnBehalfOf: c.OnBehalfOf, Address: c.Address,
		},
		Agent: or(c.Agent, "core"), Tool: c.Tool, Skill: c.Skill, Action: policy.Action(c.Action), Arguments: plain(c.Arguments),
		Categories: c.Categories, Labels: c.Labels, Paths: c.Paths, Time: now,
	}
	var err error
	if in.Principal.Role, err = policy.ParseRole(or(c.Role, string(policy.User))); err != nil {
		return in, fmt.Errorf("role: %w", err)
	}
	if in.Action != "" && !in.Action.Known() {
		return in, fmt.Errorf("action: unknown %q, want one of %v", in.Action, policy.Actions())
	}
	for _, t := range c.Targets {
		if !provenance.Kind(t.Kind).Known() {
			return in, fmt.Errorf("targets.kind: unknown %q, want one of %v", t.Kind, provenance.Kinds())
		}
		in.Targets = append(in.Targets, provenance.Target{Argument: t.Argument, Kind: provenance.Kind(t.Kind), Value: t.Value})
	}
	in.Targets = c.Trail().Trace(in.Targets)
	if c.Time != "" {
		if in.Time, err = time.Parse(time.RFC3339, c.Time); err != nil {
			return in, fmt.Errorf("time: %q is not a time such as 2027-01-31T18:30:00+01:00", c.Time)
		}
	}
	return in, nil
}

// Trail is what the user said before the call.
func (c Call) Trail() provenance.Trail { return provenance.Trail{Said: provenance.NewWords(c.Said)} }

// Decide asks the policy. Each counter that a rule asks for has the total counted, or that of a first
// call when it is nil.
func Decide(e *policy.Engine, in policy.Input, counted *float64) (policy.Decision, policy.Input) {
	for range 16 { // what a rule asks for may depend on what it got
		wants := e.Counters(in)
		if len(wants) == 0 {
			break
		}
		if in.Counts == nil {
			in.Counts = map[string]float64{}
		}
		for _, w := range wants {
			in.Counts[w.Key] = w.Amount
			if counted != nil {
				in.Counts[w.Key] = *counted
			}
		}
	}
	return e.Decide(in), in
}

// Check says what is wrong with a decision; "" when it is what the case wants.
func (w Want) Check(d policy.Decision) string {
	var wrong []string
	for _, f := range []struct{ what, want, got string }{
		{"effect", w.Effect, string(d.Effect)}, {"rule", w.Rule, d.Rule}, {"code", w.Code, d.Code},
	} {
		if f.want != "" && f.want != f.got {
			wrong = append(wrong, fmt.Sprintf("%s is %q, want %q", f.what, f.got, f.want))
		}
	}
	if w.Observed != nil && !slices.ContainsFunc(d.Observed, func(v policy.Verdict) bool { return v.Rule == *w.Observed }) {
		wrong = append(wrong, fmt.Sprintf("observed are %v, want %q among them", d.Observed, *w.Observed))
	}
	return strings.Join(wrong, "; ")
}

// plain makes of a value what reading it from JSON would have made.
func plain(m map[string]any) map[string]any {
	if m == nil {
		return nil
	}
	return jsonValue(m).(map[string]any)
}

func jsonValue(v any) any {
	switch v := v.(type) {
	case int:
		return float64(v)
	case uint64:
		return float64(v)
	case time.Time: // YAML knows dates, JSON does not
		return v.Format(time.RFC3339)
	case []any:
		all := make([]any, len(v))
		for i, e := range v {
			all[i] = jsonValue(e)
		}
		return all
	case map[string]any:
		all := make(map[string]any, len(v))
		for name, e := range v {
			all[name] = jsonValue(e)
		}
		return all
	}
	return v
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
