package agents_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/eventually"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/scanner"
)

// TestToolsChangeWhileRunsGoOn replaces the tools under a run that has not called any yet.
func TestToolsChangeWhileRunsGoOn(t *testing.T) {
	thinking, release := make(chan struct{}, 2), make(chan struct{})
	f := newFixture(t, nil, echo())
	f.setup.Model = modelFunc(func(ctx context.Context, req model.Request, say func(string)) (model.Response, error) {
		if req.Messages[0].Content == "wait" && len(req.Messages) == 1 {
			thinking <- struct{}{}
			<-release
		}
		return callThenAnswer(call("echo", `{"text":"a"}`), call("shout", `{"text":"b"}`))(ctx, req, say)
	})
	f.configure()
	before := f.start("core", "", "wait")
	<-thinking
	shout := tool("shout", func(_ context.Context, _ agents.ToolContext, args map[string]any) (agents.Result, error) {
		return agents.Result{Text: strings.ToUpper(args["text"].(string))}, nil
	})
	core := []agents.Agent{{Name: agents.Default}, {Name: "core", Tools: []string{"shout"}}}
	if err := f.rt.SetTools(core, []agents.Tool{shout}); err != nil {
		t.Fatal(err)
	}
	if err := f.rt.SetTools(core, nil); err == nil || !strings.Contains(err.Error(), `"shout", which does not exist`) {
		t.Errorf("tools that do not fit: got %v", err)
	}
	after, events := f.run("core", "go")
	if got, want := text(events), "denied: denied: unknown_tool: agent core has no tool \"echo\"\nsuccess: B"; got != want {
		t.Errorf("with the new tools: got %q, want %q", got, want)
	}
	close(release)
	if got, want := text(f.events(before.ID)), "success: a\ndenied: denied: unknown_tool: agent core has no tool \"shout\""; got != want {
		t.Errorf("with the old tools: got %q, want %q", got, want)
	}
	old, err := f.store.Run(t.Context(), before.ID)
	if err != nil || len(old.Toolset) != 12 || len(after.Toolset) != 12 || old.Toolset == after.Toolset {
		t.Errorf("versions: got %q and %q, %v; want two", old.Toolset, after.Toolset, err)
	}
}

// TestARunThatWaitedGoesOnWithTheToolsOfNow takes the tool away that a call waits for.
func TestARunThatWaitedGoesOnWithTheToolsOfNow(t *testing.T) {
	f, l, ran := newHeld(t, danger(erase))
	run := f.start("core", "", "go")
	f.waits(run.ID, 1)
	eventually.True(t, "no driver has the run any more", func() bool {
		holder, err := f.bus.Holder(t.Context(), "run."+run.ID)
		return err == nil && holder == ""
	})
	if err := f.rt.SetTools([]agents.Agent{{Name: "core"}}, nil); err != nil {
		t.Fatal(err)
	}
	l.give(erase, agents.LeaveGranted, "by eve")
	f.wake(run.ID)
	if got := text(f.events(run.ID)); !strings.Contains(got, "unknown_tool") || len(ran) > 0 {
		t.Errorf("got %q, the tool ran %d times", got, len(ran))
	}
}

// TestWhatACallIsClassedAsReachesPolicyAndRecord has a tool class its calls by their arguments.
func TestWhatACallIsClassedAsReachesPolicyAndRecord(t *testing.T) {
	fetch := agents.NewTool(agents.ToolDef{
		Name: "fetch", Action: policy.Use, Parameters: json.RawMessage(`{"type":"object","properties":{"method":{"type":"string"}}}`),
		Classify: func(args map[string]any) agents.Classification {
			switch args["method"] {
			case "GET":
				return agents.Classification{Action: policy.Use}
			case "DELETE":
				return agents.Classification{Categories: []string{"erase"}, Findings: []scanner.Finding{{Rule: "odd_host", Category: scanner.URLHomograph, Confidence: scanner.High}}}
			}
			return agents.Classification{}
		},
	}, func(context.Context, agents.ToolContext, map[string]any) (agents.Result, error) {
		return agents.Result{Text: "fetched"}, nil
	})
	for _, tc := range []struct {
		method, action, rule, status string
		findings                     int
	}{
		{"GET", "use", "", "success", 0},
		{"PUT", "mutate", "", "success", 0},
		{"DELETE", "mutate", "hitl-erase", "denied", 1},
	} {
		f := newFixture(t, callThenAnswer(call("fetch", `{"method":"`+tc.method+`"}`)), fetch)
		run, events := f.run("core", "go")
		records := f.records(run.ID, audit.ToolStart, audit.ToolDenied)
		if len(records) != 1 {
			t.Fatalf("%s: got %d records", tc.method, len(records))
		}
		var found []scanner.Finding
		if len(records[0].Findings) > 0 {
			if err := json.Unmarshal(records[0].Findings, &found); err != nil {
				t.Fatal(err)
			}
		}
		if r := records[0]; r.Action != tc.action || r.Rule != tc.rule || len(found) != tc.findings {
			t.Errorf("%s: recorded as %s by rule %q with %v", tc.method, r.Action, r.Rule, found)
		}
		if got := text(events); !strings.HasPrefix(got, tc.status) {
			t.Errorf("%s: got %q, want %s", tc.method, got, tc.status)
		}
	}
}
