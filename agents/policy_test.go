package agents_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/eventlog"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/recorded"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/policy"
)

func rules(t *testing.T, text string) *policy.Engine {
	t.Helper()
	e, err := policy.New(policy.Source{Name: "test.yaml", Text: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

const noEcho = `- {name: no-echo, match: {tools: [echo]}, effect: deny, message: No echo today., when: 'string(arguments.text) contains "password"'}`

// What was decided can be decided again from the record, and the record has no secret.
func TestDecisionIsOnRecord(t *testing.T) {
	f := newFixture(t, callThenAnswer(call("echo", `{"text":"password: hunter2hunter2"}`)), echo())
	engine := rules(t, noEcho+`
- {name: watch, mode: observe, match: {tools: [echo]}, effect: approve, message: m}`)
	f.setup.Policy = policy.NewLive(engine)
	f.configure()
	run, events := f.run("core", "go")
	if got, want := text(events), "denied: denied: No echo today. An approval does not help."; got != want {
		t.Errorf("the model was told %q, want %q", got, want)
	}
	for _, e := range events {
		if e.Type == eventlog.ToolUse && (e.Code != policy.CodeDenied || e.Content != "No echo today. An approval does not help.") {
			t.Errorf("clients were told %+v", e)
		}
	}
	denied := f.records(run.ID, audit.ToolDenied)
	if len(denied) != 1 || denied[0].Rule != "no-echo" || denied[0].PolicyHash != engine.Hash() {
		t.Fatalf("got %+v", denied)
	}
	reasons := strings.Join(denied[0].Reasons, "\n")
	for _, want := range []string{
		`because of no-echo: string(arguments.text) contains "password" with arguments.text = "password: REDACTED"`,
		"observed, would approve: rule watch: tool echo",
	} {
		if !strings.Contains(reasons, want) {
			t.Errorf("got the reasons %s\nwant %s", reasons, want)
		}
	}
	if all, _ := json.Marshal(denied[0]); strings.Contains(string(all), "hunter2") {
		t.Errorf("a secret is on record: %s", all)
	}

	r, ok := recorded.Decision(denied[0])
	if !ok {
		t.Fatal("the record cannot be replayed")
	}
	if r.Was.Effect != policy.Deny || r.Was.Rule != "no-echo" || r.Input.Tool != "echo" || r.Input.Agent != "core" || r.Input.Principal.User != "ada" {
		t.Errorf("got %+v", r)
	}
	if !engine.Reads(r.Input, r.Hidden) || rules(t, "").Reads(r.Input, r.Hidden) {
		t.Errorf("hidden is %v, want what no-echo reads", r.Hidden)
	}
	if got := time.Since(r.Input.Time); got < 0 || got > time.Minute {
		t.Errorf("the decision is %v old", got)
	}
}

// A run keeps its policy, and one that starts later has the new one, unless it is applied at once.
func TestRunKeepsItsPolicy(t *testing.T) {
	for _, tc := range []struct {
		name        string
		now         bool
		old, newest string
	}{
		{"from now on", false, "success", "denied"},
		{"at once", true, "denied", "denied"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			held, proceed := make(chan struct{}), make(chan struct{})
			m := callThenAnswer(call("echo", `{"text":"x"}`))
			first := true
			f := newFixture(t, modelFunc(func(ctx context.Context, req model.Request, say func(string)) (model.Response, error) {
				if first {
					first = false
					close(held)
					<-proceed
				}
				return m(ctx, req, say)
			}), echo())
			live := policy.NewLive(rules(t, ""))
			f.setup.Policy = live
			f.configure()
			old := f.start("core", "", "go")
			<-held
			live.Apply(rules(t, `- {name: none, match: {tools: [echo]}, effect: deny, message: m}`), tc.now)
			close(proceed)
			oldStatus, _, _ := strings.Cut(text(f.events(old.ID)), ":")
			_, events := f.run("core", "go")
			newStatus, _, _ := strings.Cut(text(events), ":")
			if oldStatus != tc.old || newStatus != tc.newest {
				t.Errorf("got %s for the run that was under way and %s for the next, want %s and %s", oldStatus, newStatus, tc.old, tc.newest)
			}
		})
	}
}

// A call counts before it is made, whether it is made at the same time as others or not, and does not
// when it was denied or its tool failed.
func TestCountersOfRules(t *testing.T) {
	broken := tool("broken", func(context.Context, agents.ToolContext, map[string]any) (agents.Result, error) {
		return agents.Result{}, errBroken
	})
	four := []model.ToolCall{call("echo", `{"text":"a"}`), call("echo", `{"text":"b"}`), call("echo", `{"text":"c"}`), call("echo", `{"text":"d"}`)}
	for _, tc := range []struct {
		name  string
		rule  string
		calls []model.ToolCall
		want  map[string]int
		left  map[string]int // of the same calls once more
	}{
		{"count", `when: 'count(tool, "1h") > 3'`, four, map[string]int{"success": 3, "denied": 1}, map[string]int{"denied": 4}},
		{"sum", `when: 'sum(arguments.n, "24h") > 10'`, []model.ToolCall{call("echo", `{"n":8}`), call("echo", `{"n":8}`)}, map[string]int{"success": 1, "denied": 1}, map[string]int{"denied": 2}},
		{"sum of less than nothing", `when: 'sum(arguments.n, "24h") > 10'`, []model.ToolCall{call("echo", `{"n":-8}`)}, map[string]int{"denied": 1}, map[string]int{"denied": 1}},
		{"failures do not count", `when: 'count(tool, "1h") > 2'`, []model.ToolCall{call("broken", `{}`), call("broken", `{}`)}, map[string]int{"error": 2}, map[string]int{"error": 2}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := newFixture(t, callThenAnswer(tc.calls...), echo(), broken)
			f.setup.Policy = policy.NewLive(rules(t, "- {name: limit, effect: deny, message: m, "+tc.rule+"}"))
			f.configure()
			for _, want := range []map[string]int{tc.want, tc.left} {
				_, events := f.run("core", "go")
				got := map[string]int{}
				for _, e := range events {
					if e.Type == eventlog.Result {
						got[e.Status]++
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// A run that waits keeps its policy, unless it is replaced at once, and its call does not count.
func TestRunThatWaitsKeepsItsPolicy(t *testing.T) {
	for _, tc := range []struct {
		name string
		now  bool
		want string
	}{
		{"from now on", false, "success"},
		{"at once", true, "denied"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, l, _ := newHeld(t, danger(erase))
			live := policy.NewLive(rules(t, `- {name: limit, effect: deny, message: m, when: 'count(tool, "1h") > 1'}`))
			f.setup.Policy = live
			f.configure()
			run := f.start("core", "", "go")
			f.waits(run.ID, 1)
			live.Apply(rules(t, `- {name: none, match: {tools: [command]}, effect: deny, message: m}`), tc.now)
			l.give(erase, agents.LeaveGranted, "ok")
			f.wake(run.ID)
			if got, _, _ := strings.Cut(text(f.events(run.ID)), ":"); got != tc.want {
				t.Errorf("got %s, want %s: %s", got, tc.want, f.calledStatus(run.ID))
			}
		})
	}
}
