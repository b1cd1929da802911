package agents_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/eventlog"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/audit"
)

// abandon leaves behind what a process leaves that dies in the middle of a call.
func abandon(t *testing.T, f *fixture, harness string) *agents.Run {
	t.Helper()
	id := "0190f5a4-7c3e-7b1a-9f6e-2d4c8a1b3e5f"
	now := time.Now().UTC()
	r := &agents.Run{
		ID: id, Thread: strings.Replace(id, "0190", "0191", 1), Assistant: "core", Principal: ada, Status: agents.Running,
		Harness: harness, Created: now, Updated: now, Input: 1,
		Frames: []agents.Frame{{Agent: "core", Messages: []model.Message{{ID: "m", Role: "user", Content: "go"}}}},
	}
	fresh := &agents.Thread{ID: r.Thread, Owner: "ada", Created: now, Updated: now, Status: agents.ThreadBusy}
	if err := f.store.CreateRun(t.Context(), r, r.Frames[0].Messages, fresh); err != nil {
		t.Fatal(err)
	}
	c := model.ToolCall{ID: "call_1", Name: "echo", Arguments: "{}"}
	r.Frames[0].Messages = append(r.Frames[0].Messages, model.Message{ID: "n", Role: "assistant", ToolCalls: []model.ToolCall{c}})
	r.Frames[0].Calls = []agents.Call{{ToolCall: c, Status: agents.CallProposed}}
	if err := f.store.SaveRun(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if err := f.store.AppendEvents(t.Context(), id, []eventlog.Event{{Seq: 0, Type: eventlog.ToolUse, Name: "echo"}}); err != nil {
		t.Fatal(err)
	}
	for _, e := range []audit.Event{
		{Type: audit.ToolStart, Run: id, Call: "call_0", Tool: "echo", User: "ada", Status: "started"},
		{Type: audit.ToolEnd, Run: id, Call: "call_0", Tool: "echo", User: "ada", Status: "success"},
		{Type: audit.ToolStart, Run: id, Call: "call_1", Tool: "echo", User: "ada", Status: "started"},
	} {
		if err := f.audit.Record(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func TestRecoveryClosesWhatADeadProcessLeft(t *testing.T) {
	for _, tc := range []struct{ harness, code, message string }{
		{"0.4.12", "interrupted_by_restart", "stopped"},
		{"0.4.11", "harness_version", "too old for harness features"},
		{"1.2.0", "harness_version", "too new"},
	} {
		t.Run(tc.harness, func(t *testing.T) {
			ran := make(chan string, 10)
			f := newFixture(t, callThenAnswer(call("echo", "{}")), tool("echo", func(_ context.Context, tc agents.ToolContext, _ map[string]any) (agents.Result, error) {
				ran <- tc.Run
				return agents.Result{}, nil
			}))
			left := abandon(t, f, tc.harness)
			if err := f.host.Close(); err != nil {
				t.Fatal(err)
			}
			f.open()
			run, err := f.store.Run(t.Context(), left.ID)
			if err != nil || run.Status != agents.Error || run.Failure == nil || run.Failure.Code != tc.code ||
				!strings.Contains(run.Failure.Message, tc.message) {
				t.Fatalf("got %+v, %v, want error %s", run.Failure, err, tc.code)
			}
			ends := f.records(run.ID, audit.ToolError)
			if len(ends) != 1 || ends[0].Call != "call_1" || ends[0].Status != "unknown" {
				t.Errorf("outcomes: %+v, want one, unknown, for call_1", ends)
			}
			events := f.events(run.ID)
			if got, want := types(events), "tool_use error done"; got != want {
				t.Errorf("log: got %q, want %q", got, want)
			}
			messages, _ := f.store.Messages(t.Context(), run.Thread, -1)
			if n := len(messages); n != 3 || messages[2].Role != model.RoleTool || messages[2].Status != "unknown" {
				t.Errorf("thread: got %+v", messages)
			}
			f.open() // once is enough
			if ends := f.records(run.ID, audit.ToolError); len(ends) != 1 {
				t.Errorf("a second recovery recorded again: %+v", ends)
			}
			f.events(f.start("core", run.Thread, "the thread is free").ID)
			another := f.start("core", "", "go")
			f.events(another.ID)
			if n := len(ran); n != 1 || <-ran != another.ID {
				t.Errorf("the tool ran %d times, want once, for another run", n)
			}
		})
	}
}

func TestRecoveryLeavesOtherNodesAlone(t *testing.T) {
	f := newFixture(t, callThenAnswer())
	left := abandon(t, f, "0.4.12")
	if _, err := f.bus.Lease(t.Context(), "run."+left.ID, "another", time.Minute); err != nil {
		t.Fatal(err)
	}
	f.open()
	if run, err := f.store.Run(t.Context(), left.ID); err != nil || run.Status != agents.Running {
		t.Errorf("got %v, %v, want running", run.Status, err)
	}
}
