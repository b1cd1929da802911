package replay

import (
	"errors"
	"iter"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/svc-gateway/svc/policy"
)

func engine(t *testing.T, rules string) *policy.Engine {
	t.Helper()
	e, err := policy.New(policy.Source{Name: "test.yaml", Text: []byte(rules)})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestRun(t *testing.T) {
	at := time.Date(2027, 1, 31, 18, 30, 0, 0, time.FixedZone("", 3600))
	on := func(id, tool string, was policy.Effect, hidden ...[]string) Decision {
		return Decision{
			ID: id, Time: at, Hidden: hidden, Was: policy.Verdict{Effect: was},
			Input: policy.Input{Principal: policy.Principal{User: "ada", Role: policy.User}, Agent: "core", Tool: tool, Action: policy.Use, Time: at, Arguments: map[string]any{"x": "y"}},
		}
	}
	e := engine(t, `
- {name: late, match: {tools: [read]}, effect: deny, message: m, when: time.clock >= "18:00"}
- {name: secret, match: {tools: [login]}, effect: deny, message: m, when: arguments.password == "hunter2"}
- {name: often, match: {tools: [ping]}, effect: deny, message: m, when: 'count(tool, "1h") > 1'}
`)
	report, err := Run(e, each(
		on("a", "read", policy.Allow), on("b", "look", policy.Allow),
		on("c", "login", policy.Deny, []string{"arguments", "password"}),
		on("d", "login", policy.Allow, []string{"arguments", "other"}),
		on("e", "ping", policy.Allow),
	))
	if err != nil {
		t.Fatal(err)
	}
	want := Report{Decisions: 5, Inexact: 2, Changes: []Change{
		{ID: "a", Time: at, User: "ada", Agent: "core", Tool: "read", Was: policy.Verdict{Effect: policy.Allow}, Now: policy.Verdict{Rule: "late", Effect: policy.Deny}},
		{ID: "c", Time: at, User: "ada", Agent: "core", Tool: "login", Was: policy.Verdict{Effect: policy.Deny}, Now: policy.Verdict{Effect: policy.Allow}, Inexact: true},
	}}
	if diff := cmp.Diff(want, report, cmpopts.IgnoreFields(Change{}, "Reasons")); diff != "" {
		t.Error(diff)
	}
	if report.Changes[0].Reasons == nil {
		t.Error("a change has no reasons")
	}
}

// The clock is part of the input: a replay at another time gives equal answers.
func TestSamePolicyChangesNothing(t *testing.T) {
	e := engine(t, `[{name: late, effect: approve, message: m, when: time.clock >= "18:00" and time.weekday == "sunday"}]`)
	var all []Decision
	for hour := range 48 {
		in := policy.Input{Principal: policy.Principal{Role: policy.Admin}, Agent: "core", Tool: "x", Action: policy.Use, Time: time.Date(2027, 1, 31, hour, 0, 0, 0, time.UTC)}
		d := e.Decide(in)
		all = append(all, Decision{Input: in, Was: policy.Verdict{Rule: d.Rule, Effect: d.Effect}})
	}
	report, err := Run(e, each(all...))
	if err != nil || len(report.Changes) > 0 || report.Decisions != 48 {
		t.Errorf("got %+v, %v", report, err)
	}
}

func TestRunEndsAtAnError(t *testing.T) {
	broken := errors.New("broken")
	if _, err := Run(nil, func(yield func(Decision, error) bool) { yield(Decision{}, broken) }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

func each(all ...Decision) iter.Seq2[Decision, error] {
	return func(yield func(Decision, error) bool) {
		for _, d := range all {
			if !yield(d, nil) {
				return
			}
		}
	}
}
