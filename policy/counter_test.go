package policy

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// tally stands in for the shared counters of the service.
type tally map[string]float64

// decide decides as the gate does: it counts what the rules ask for, until they have it all.
func (c tally) decide(t *testing.T, e *Engine, in Input) (Decision, []Counter) {
	t.Helper()
	in.Counts = map[string]float64{}
	var all []Counter
	for range 10 {
		wants := e.Counters(in)
		if len(wants) == 0 {
			return e.Decide(in), all
		}
		for _, w := range wants {
			c[w.Key] += w.Amount
			in.Counts[w.Key] = c[w.Key]
		}
		all = append(all, wants...)
	}
	t.Fatal("the rules ask for counters again and again")
	return Decision{}, nil
}

func TestCounters(t *testing.T) {
	e := withRules(t, `
- {name: often, match: {tools: [pay]}, effect: deny, message: m, when: 'count(principal.user, "1h") > 2'}
- {name: much, match: {tools: [pay]}, effect: approve, message: m, when: 'sum(arguments.amount, "7d", principal.user) > 100'}
- {name: rarely, match: {tools: [look]}, effect: log, message: m, when: 'agent == "core" && count([agent, tool], "90s") > 0'}
`)
	c := tally{}
	call := func(user, tool, agent string, amount any) Input {
		return Input{Principal: Principal{User: user, Role: Admin}, Agent: agent, Tool: tool, Action: Use, Arguments: map[string]any{"amount": amount}}
	}
	for i, tt := range []struct {
		in     Input
		effect Effect
		keys   int
	}{
		{call("ada", "pay", "core", 60.0), Allow, 2},
		{call("ada", "pay", "core", 50.0), Approve, 2}, // 110 in sum
		{call("bob", "pay", "core", 50.0), Allow, 2},   // of somebody else
		{call("ada", "pay", "core", 1.0), Deny, 2},     // the third
		{call("eve", "pay", "core", -5.0), Deny, 1},    // an amount that would make room
		{call("eve", "pay", "core", "5"), Deny, 1},
		{call("eve", "look", "core", nil), Log, 1},
		{call("eve", "look", "quick", nil), Allow, 0}, // the expression does not come to the counter
		{call("eve", "other", "core", nil), Allow, 0},
	} {
		d, wants := c.decide(t, e, tt.in)
		if d.Effect != tt.effect || len(wants) != tt.keys {
			t.Errorf("call %d: got %s by %q with the counters %v, want %s with %d of them: %v", i, d.Effect, d.Rule, wants, tt.effect, tt.keys, d.Reasons)
		}
		for _, w := range wants {
			if strings.Contains(w.Key, "ada") || !strings.Contains(w.Key, "/") {
				t.Errorf("the key %q tells what is counted", w.Key)
			}
		}
	}
	if d := e.Decide(call("ada", "pay", "core", 1.0)); d.Effect != Deny || d.Code != CodeUnevaluated {
		t.Errorf("without the counters: got %+v, want a denial", d)
	}
	if got := e.Counters(Input{Principal: Principal{Role: "nobody"}, Agent: "core", Tool: "pay", Action: Use}); got != nil {
		t.Errorf("a call that the table denies counts: %v", got)
	}
}

func TestWindows(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"1s": time.Second, "90s": 90 * time.Second, "1h30m": 90 * time.Minute, "7d": 7 * 24 * time.Hour, "31d": maxWindow,
		"": 0, "1": 0, "0s": 0, "-1h": 0, "32d": 0, "800h": 0, "d": 0, "1.5d": 0, "9999999999999d": 0, "1ms": 0,
	} {
		got, err := parseWindow(text)
		if diff := cmp.Diff(want, got); diff != "" || (err == nil) != (want > 0) {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
	}
}
