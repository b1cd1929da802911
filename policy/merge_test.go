package policy

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What rules ask of an approval adds up: the strictest of all that apply counts.
func TestApprovalsMerge(t *testing.T) {
	const mine = `
- {name: two, match: {tools: [pay, both]}, effect: approve, approvers: 2, message: m}
- {name: other, match: {tools: [send, both]}, effect: approve, requester: false, message: m}
- {name: quiet, match: {tools: [quiet]}, mode: observe, effect: approve, approvers: 5, requester: false, message: m}
- {name: never, match: {tools: [never]}, effect: deny, message: m}
- {name: asks, match: {tools: [never]}, effect: approve, approvers: 3, message: m}
`
	e, err := New(Source{"mine.yaml", []byte(mine)})
	if err != nil {
		t.Fatal(err)
	}
	type want struct {
		Effect             Effect
		Approvers          int
		OtherPerson, Built bool
		Remedy             string
	}
	for _, tt := range []struct {
		tool     string
		category string
		want     want
	}{
		{"ls", "", want{Effect: Allow}},
		{"ls", "reload", want{Approve, 1, false, true, "It needs the approval of an admin."}},
		{"pay", "", want{Approve, 2, false, false, "It needs the approval of 2 different admins."}},
		{"pay", "reload", want{Approve, 2, false, false, "It needs the approval of 2 different admins."}},
		{"send", "", want{Approve, 1, true, false, "It needs the approval of an admin other than the requester."}},
		{"both", "", want{Approve, 2, true, false, "It needs the approval of 2 different admins other than the requester."}},
		{"quiet", "", want{Effect: Allow}},
		{"quiet", "reload", want{Approve, 1, false, true, "It needs the approval of an admin."}},
		{"never", "", want{Effect: Deny, Remedy: "An approval does not help."}},
	} {
		in := Input{Principal: Principal{Role: Admin}, Agent: "core", Tool: tt.tool, Action: Mutate}
		if tt.category != "" {
			in.Categories = []string{tt.category}
		}
		d := e.Decide(in)
		got := want{d.Effect, d.Approvers, d.OtherPerson, d.Builtin, d.Remedy()}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s %s: %s", tt.tool, tt.category, diff)
		}
	}
}

// An observed rule is on record, and changes nothing: not even when it cannot be evaluated.
func TestObservedRulesChangeNothing(t *testing.T) {
	for name, rule := range map[string]string{
		"deny":    "- {name: r, mode: observe, effect: deny, message: m, when: tool == \"x\"}",
		"error":   "- {name: r, mode: observe, effect: log, message: m, when: int(arguments.n) > 1}",
		"approve": "- {name: r, mode: observe, effect: approve, message: m}",
	} {
		in := Input{Principal: Principal{Role: Admin}, Agent: "core", Tool: "x", Action: Use}
		got, without := withRules(t, rule).Decide(in), withRules(t, "").Decide(in)
		want := Effect(name)
		if name == "error" {
			want = Deny
		}
		if diff := cmp.Diff([]Verdict{{"r", want}}, got.Observed); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if last := got.Reasons[len(got.Reasons)-1]; !strings.HasPrefix(last, "observed, would "+string(want)+": rule r: ") {
			t.Errorf("%s: got the reason %q", name, last)
		}
		got.Observed, got.Reasons = nil, got.Reasons[:len(got.Reasons)-1]
		without.PolicyHash = got.PolicyHash
		if diff := cmp.Diff(without, got); diff != "" {
			t.Errorf("%s: the decision differs: %s", name, diff)
		}
	}
}

func TestCodes(t *testing.T) {
	e := withRules(t, `
- {name: d, match: {tools: [d]}, effect: deny, message: m}
- {name: a, match: {tools: [a]}, effect: approve, message: m}
- {name: l, match: {tools: [l]}, effect: log, message: m}
- {name: x, match: {tools: [x]}, effect: log, message: m, when: int(arguments.n) > 1}
- {name: t, match: {tools: [t]}, effect: log, message: m, when: time.clock > "18:00"}
`)
	for tool, want := range map[string]string{
		"d": CodeDenied, "a": CodeApproval, "l": "", "x": CodeUnevaluated, "none": "",
		"t": CodeUnevaluated, // nobody said what time it is
	} {
		if d := e.Decide(Input{Principal: Principal{Role: Admin}, Agent: "core", Tool: tool, Action: Use}); d.Code != want {
			t.Errorf("%s: got %q, want %q", tool, d.Code, want)
		}
	}
	if d := e.Decide(Input{Principal: Principal{Role: Readonly}, Agent: "core", Tool: "d", Action: Mutate}); d.Code != CodePermission {
		t.Errorf("got %q, want %q", d.Code, CodePermission)
	}
	if d := (*Engine)(nil).Decide(Input{}); d.Code != CodeUnavailable || d.Remedy() == "" {
		t.Errorf("got %+v", d)
	}
}
