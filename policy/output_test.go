package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecideOutput(t *testing.T) {
	e := withRules(t, `
- {name: names, phase: output, effect: deny, message: The project's name is not public., when: 'output.final and lower(output.text) contains "bluebird" and principal.role != "admin"'}
- {name: unproven, phase: output, effect: log, message: m, when: '"claim" in output.findings and len(output.tools) == 0'}
- {name: long, phase: output, mode: observe, effect: deny, message: m, when: output.length > 20 and time.clock >= "00:00"}
- {name: call, effect: deny, message: m}
`)
	type want struct {
		Effect   Effect
		Rule     string
		Observed int
	}
	for _, tt := range []struct {
		name string
		role Role
		o    Output
		want want
	}{
		{"harmless", User, Output{Text: "hello", Final: true}, want{Effect: Allow}},
		{"named", User, Output{Text: "It is BlueBird.", Final: true}, want{Effect: Deny, Rule: "names"}},
		{"named below", User, Output{Text: "It is BlueBird."}, want{Effect: Allow}},
		{"named to an admin", Admin, Output{Text: "It is BlueBird.", Final: true}, want{Effect: Allow}},
		{"unproven", User, Output{Text: "I ran it.", Findings: []string{"claim"}}, want{Effect: Log, Rule: "unproven"}},
		{"long", User, Output{Text: "hello", Length: 21}, want{Effect: Allow, Observed: 1}},
	} {
		tt.o.Time = evening(t, "21:00")
		d := e.DecideOutput(Principal{Role: tt.role}, tt.o)
		if diff := cmp.Diff(tt.want, want{d.Effect, d.Rule, len(d.Observed)}); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
	if d := e.DecideOutput(Principal{}, Output{Length: 21}); len(d.Observed) != 1 {
		t.Errorf("a rule that cannot be evaluated is observed as a denial: %+v", d)
	}
	if d := (*Engine)(nil).DecideOutput(Principal{}, Output{}); d.Effect != Deny || !(*Engine)(nil).Withholds() {
		t.Errorf("without a policy: got %+v", d)
	}
	if !e.Withholds() {
		t.Error("a rule that denies answers does not have them withheld")
	}
	for _, doc := range []string{
		"- {name: seen, phase: output, effect: log, message: m}",
		"- {name: seen, phase: output, effect: deny, mode: observe, message: m}",
		"- {name: seen, phase: request, effect: deny, message: m}",
	} {
		if withRules(t, doc).Withholds() {
			t.Errorf("%s: answers are withheld for no reason", doc)
		}
	}
}
