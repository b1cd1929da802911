package agents_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/retention"
	"github.com/svc-gateway/svc/audit"
)

const someID = "0190f5a4-7c3e-7b1a-9f6e-2d4c8a1b3e5f"

func TestThreadsOfAChosenID(t *testing.T) {
	f := newFixture(t, recall())
	ctx, v := t.Context(), f.rt.As(ada)
	bob := ada
	bob.User = "bob"
	th := f.thread(agents.ThreadRequest{ID: someID, Metadata: map[string]any{"a": 1.0, "b": "x"}})
	for _, tc := range []struct {
		name string
		view agents.View
		req  agents.ThreadRequest
		want error
	}{
		{"again", v, agents.ThreadRequest{ID: someID}, agents.ErrThreadExists},
		{"again, if need be", v, agents.ThreadRequest{ID: someID, IfExists: agents.DoNothing}, nil},
		{"somebody else", f.rt.As(bob), agents.ThreadRequest{ID: someID, IfExists: agents.DoNothing}, agents.ErrThreadExists},
	} {
		got, err := tc.view.CreateThread(ctx, tc.req)
		if !errors.Is(err, tc.want) || err == nil && got.ID != th.ID {
			t.Errorf("%s: got %v, %v, want %v", tc.name, got, err, tc.want)
		}
	}
	for _, req := range []agents.ThreadRequest{{ID: "x"}, {TTL: -1}, {IfExists: "?"}} {
		var field *agents.FieldError
		if _, err := v.CreateThread(ctx, req); !errors.As(err, &field) {
			t.Errorf("%+v: got %v", req, err)
		}
	}
	ttl := time.Minute
	got, err := v.UpdateThread(ctx, th.ID, agents.ThreadPatch{Metadata: map[string]any{"b": nil, "c": true}, TTL: &ttl})
	if want := map[string]any{"a": 1.0, "c": true}; err != nil || !cmp.Equal(got.Metadata, want) || got.TTL != ttl {
		t.Errorf("got %+v, %v, want %v", got, err, want)
	}
	if err := f.host.Sweep(ctx, retention.Policy{}, time.Now()); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Thread(ctx, th.ID); err != nil {
		t.Errorf("before its time: %v", err)
	}
	if err := f.host.Sweep(ctx, retention.Policy{}, time.Now().Add(2*ttl)); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Thread(ctx, th.ID); !errors.Is(err, agents.ErrThreadNotFound) {
		t.Errorf("after its time: got %v, want %v", err, agents.ErrThreadNotFound)
	}
	h := f.ask(agents.Request{Thread: someID, CreateThread: true, Input: user("one")})
	f.events(h.ID)
	if th, err := v.Thread(ctx, someID); err != nil || th.Ephemeral {
		t.Errorf("got %+v, %v", th, err)
	}
	_, err = f.rt.As(bob).Start(ctx, agents.Request{Assistant: "core", Thread: someID, CreateThread: true, Input: user("one")})
	if !errors.Is(err, agents.ErrThreadNotFound) {
		t.Errorf("somebody else creates it with a run: got %v, want %v", err, agents.ErrThreadNotFound)
	}
}

func TestDeleteRun(t *testing.T) {
	f := newFixture(t, recall())
	ctx, v := t.Context(), f.rt.As(ada)
	th := f.thread(agents.ThreadRequest{})
	run := f.done(agents.Request{Thread: th.ID, Input: user("one")})
	if err := v.DeleteRun(ctx, th.ID, run.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Run(ctx, th.ID, run.ID); !errors.Is(err, agents.ErrRunNotFound) {
		t.Errorf("got %v, want %v", err, agents.ErrRunNotFound)
	}
	if events, err := f.store.Events(ctx, run.ID, 0, 10); err != nil || len(events) != 0 {
		t.Errorf("%d events are left, %v", len(events), err)
	}
	if got := contents(f.state(th.ID, "")); len(got) != 2 {
		t.Errorf("the thread has %q", got)
	}
	if got := f.records(run.ID, audit.RunDeleted); len(got) != 2 {
		t.Errorf("on record: %+v", got)
	}
}

// Nothing that a view can do reaches what is somebody else's, and who tries is on record.
func TestNobodyReachesAnothersThread(t *testing.T) {
	f := newFixture(t, recall())
	th := f.thread(agents.ThreadRequest{})
	run := f.done(agents.Request{Thread: th.ID, Input: user("one")})
	at := f.state(th.ID, "").ID
	bob := ada
	bob.User = "bob"
	ctx, v := t.Context(), f.rt.As(bob)
	other, err := v.CreateThread(ctx, agents.ThreadRequest{})
	if err != nil {
		t.Fatal(err)
	}
	second := func(_ any, err error) error { return err }
	for name, err := range map[string]error{
		"State":        second(v.State(ctx, th.ID, "")),
		"State at":     second(v.State(ctx, th.ID, at)),
		"History":      second(v.History(ctx, th.ID, agents.HistoryFilter{})),
		"UpdateState":  second(v.UpdateState(ctx, th.ID, agents.StateUpdate{Values: map[string]any{"a": 1}})),
		"UpdateThread": second(v.UpdateThread(ctx, th.ID, agents.ThreadPatch{Metadata: map[string]any{"a": 1}})),
		"CopyThread":   second(v.CopyThread(ctx, th.ID)),
		"PruneThreads": v.PruneThreads(ctx, []string{other.ID, th.ID}, agents.PruneDelete),
		"keep latest":  v.PruneThreads(ctx, []string{other.ID, th.ID}, agents.PruneKeep),
		"DeleteRun":    v.DeleteRun(ctx, th.ID, run.ID),
		"Interrupts":   second(v.Interrupts(ctx, th.ID, run.ID)),
		"Resume":       second(v.Resume(ctx, th.ID, agents.Resumption{})),
		"Resume a run": second(v.Resume(ctx, other.ID, agents.Resumption{Run: run.ID})),
		"Start":        second(v.Start(ctx, agents.Request{Thread: th.ID, Input: user("x"), Multitask: agents.MultitaskRollback})),
		"Start at":     second(v.Start(ctx, agents.Request{Thread: th.ID, Checkpoint: at})),
	} {
		if !errors.Is(err, agents.ErrNotFound) {
			t.Errorf("%s: got %v, want %v", name, err, agents.ErrNotFound)
		}
	}
	if _, err := v.Thread(ctx, other.ID); err != nil {
		t.Errorf("pruning has removed what came before the one that is not there: %v", err)
	}
	if _, err := v.Start(ctx, agents.Request{Thread: other.ID, Checkpoint: at, Input: user("x")}); !errors.Is(err, agents.ErrCheckpointNotFound) {
		t.Errorf("another's checkpoint: got %v, want %v", err, agents.ErrCheckpointNotFound)
	}
	if got := len(f.records("", audit.PermissionDenied)); got != 14 {
		t.Errorf("%d attempts are on record, want 14", got)
	}
	if c := f.state(th.ID, ""); c.ID != at || len(c.Values) != 0 {
		t.Errorf("the thread has changed: %+v", c)
	}
}

// A run that goes on from calls of another one makes them under ids of its own, through the gate.
func TestForkBeforeTheTools(t *testing.T) {
	f, l, ran := newHeld(t, danger(erase))
	l.give(erase, agents.LeaveGranted, "yes")
	th := f.thread(agents.ThreadRequest{})
	f.done(agents.Request{Thread: th.ID, Input: user("go")})
	<-ran
	all := f.history(th.ID)
	l.give(erase, agents.LeavePending, "")
	h := f.ask(agents.Request{Thread: th.ID, Checkpoint: all[2].ID}) // next is tools
	f.waits(h.ID, 1)
	c := f.state(th.ID, "")
	if len(c.Interrupts) != 1 || c.Interrupts[0].Node != "tools" || len(c.Interrupts[0].Calls) != 1 || c.Interrupts[0].Calls[0].Tool != "command" {
		t.Fatalf("got %+v", c.Interrupts)
	}
	if c.Interrupts[0].Calls[0].Call == all[2].Messages[1].ToolCalls[0].ID {
		t.Error("the call has the id of the one before")
	}
	if len(c.Messages) != 2 || c.Messages[1].ID != all[2].Messages[1].ID {
		t.Errorf("the state: %+v", c.Messages)
	}
	l.give(erase, agents.LeaveGranted, "yes")
	f.wake(h.ID)
	f.events(h.ID)
	if got := <-ran; got != erase {
		t.Errorf("ran %q", got)
	}
	if got := f.state(th.ID, ""); len(got.Messages) != 4 || got.Messages[2].Role != model.RoleTool {
		t.Errorf("the state: %q", contents(got))
	}
}
