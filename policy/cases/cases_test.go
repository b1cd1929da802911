package cases

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/policy"
)

func TestParseRefuses(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "# nothing", "there are no cases"},
		{"unknown key", "- {name: a, cal: {tool: x}, want: {effect: deny}}", "field cal not found"},
		{"no name", "- {call: {tool: x}, want: {effect: deny}}", `case 1, "": name: missing`},
		{"no tool", "- {name: a, call: {agent: core}, want: {effect: deny}}", "call.tool: missing"},
		{"no want", "- {name: a, call: {tool: x}}", "want: missing"},
		{"effect", "- {name: a, call: {tool: x}, want: {effect: dney}}", `unknown "dney", want one of allow, log, approve, deny; did you mean deny?`},
		{"role", "- {name: a, call: {tool: x, role: boss}, want: {effect: deny}}", `role: unknown role "boss"`},
		{"action", "- {name: a, call: {tool: x, action: fly}, want: {effect: deny}}", `action: unknown "fly"`},
		{"time", "- {name: a, call: {tool: x, time: later}, want: {effect: deny}}", `time: "later" is not a time such as`},
	} {
		if _, err := Parse("c.yaml", []byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "c.yaml: ") {
			t.Errorf("%s: got %v, want %q in it", tt.name, err, tt.want)
		}
	}
}

func TestCases(t *testing.T) {
	e, err := policy.New(policy.Source{Name: "t.yaml", Text: []byte(`
- {name: late, match: {tools: [read]}, effect: deny, message: m, when: 'time.clock >= "18:00" and arguments.lines == 3'}
- {name: often, match: {tools: [ping]}, effect: approve, message: m, when: 'count(tool, "1h") > 4'}
- {name: watch, match: {tools: [ping]}, mode: observe, effect: deny, message: m}
`)})
	if err != nil {
		t.Fatal(err)
	}
	all, err := Parse("c.yaml", []byte(`
- name: late
  call: {tool: read, action: use, arguments: {lines: 3}, time: 2027-01-31T18:00:00+01:00}
  want: {effect: deny, rule: late, code: policy_denied}
- name: early
  call: {tool: read, action: use, arguments: {lines: 3}, time: 2027-01-31T17:59:00+01:00}
  want: {effect: deny}
- name: fourth
  call: {tool: ping, action: use, counted: 4}
  want: {effect: allow, observed: watch}
- name: fifth
  call: {tool: ping, action: use, counted: 5}
  want: {effect: approve, observed: other}
- name: first
  call: {tool: ping, action: use}
  want: {effect: allow}
`))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, c := range all {
		in, err := c.Call.Input(time.Now())
		if err != nil {
			t.Fatal(err)
		}
		d, _ := Decide(e, in, c.Call.Counted)
		got[c.Name] = c.Want.Check(d)
	}
	want := map[string]string{
		"late": "", "early": `effect is "allow", want "deny"`, "fourth": "", "fifth": `observed are [{watch deny}], want "other" among them`, "first": "",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
