package statetest

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/scanner"
)

func claiming(t *testing.T, s agents.Store) {
	th := thread(t, s, "ada", now)
	first := run(t, th.ID)
	create(t, s, first, nil)
	if err := s.CreateRun(t.Context(), run(t, th.ID), nil, nil); !errors.Is(err, agents.ErrBusy) {
		t.Errorf("a second run: got %v, want %v", err, agents.ErrBusy)
	}
	finish(t, s, first, "hi")
	second := run(t, th.ID)
	create(t, s, second, nil)
	if second.Base != 2 {
		t.Errorf("base of the second run: got %d, want 2", second.Base)
	}
	got, err := s.Runs(t.Context(), agents.RunFilter{Thread: th.ID, Limit: 1})
	if err != nil || len(got) != 1 || got[0].ID != second.ID {
		t.Errorf("latest run: got %v, %v, want %s", got, err, second.ID)
	}
}

func contention(t *testing.T, s agents.Store) {
	th := thread(t, s, "ada", now)
	var won, busy atomic.Int32
	var group sync.WaitGroup
	for range 20 {
		r := run(t, th.ID)
		group.Go(func() {
			switch err := s.CreateRun(t.Context(), r, r.Frames[0].Messages, nil); {
			case err == nil:
				won.Add(1)
			case errors.Is(err, agents.ErrBusy):
				busy.Add(1)
			}
		})
	}
	group.Wait()
	if won.Load() != 1 || busy.Load() != 19 {
		t.Errorf("got %d winners and %d busy, want 1 and 19", won.Load(), busy.Load())
	}
	messages, err := s.Messages(t.Context(), th.ID, -1)
	if err != nil || len(messages) != 1 {
		t.Errorf("got %d messages, %v, want the winner's one", len(messages), err)
	}
}

func compareAndSwap(t *testing.T, s agents.Store) {
	th := thread(t, s, "ada", now)
	r := run(t, th.ID)
	create(t, s, r, nil)
	stale := *r
	r.Steps = 7
	if err := s.SaveRun(t.Context(), r); err != nil {
		t.Fatalf("SaveRun: %v", err)
	}
	stale.Steps = 9
	if err := s.SaveRun(t.Context(), &stale); !errors.Is(err, agents.ErrConflict) {
		t.Errorf("saving an old version: got %v, want %v", err, agents.ErrConflict)
	}
	stale.Status = agents.Success
	if err := s.FinishRun(t.Context(), &stale, []model.Message{say("assistant", "x")}, nil); !errors.Is(err, agents.ErrConflict) {
		t.Errorf("finishing an old version: got %v, want %v", err, agents.ErrConflict)
	}
	got, err := s.Run(t.Context(), r.ID)
	if err != nil || !cmp.Equal(got, r) {
		t.Errorf("got %v, %s", err, cmp.Diff(r, got))
	}
	if messages, _ := s.Messages(t.Context(), th.ID, -1); len(messages) != 1 {
		t.Errorf("got %d messages after a refused finish, want 1", len(messages))
	}
}

// waiting suspends a run and goes on with it.
func waiting(t *testing.T, s agents.Store) {
	th := thread(t, s, "ada", now)
	r := run(t, th.ID)
	create(t, s, r, nil)
	stale := *r
	r.Status = agents.Interrupted
	r.Frames[0].Calls = []agents.Call{{
		ToolCall: model.ToolCall{ID: "1", Name: "t", Arguments: "{}"}, Status: agents.CallSuccess, Result: "r", Labels: []string{"tool:t"},
		Findings: []scanner.Finding{{Category: scanner.RoleHijacking, Rule: "x", Confidence: scanner.High}},
	}, {ToolCall: model.ToolCall{ID: "2"}, Status: agents.CallWaiting, Asked: true}}
	if err := s.SuspendRun(t.Context(), r); err != nil {
		t.Fatalf("SuspendRun: %v", err)
	}
	status := func(want agents.ThreadStatus) {
		t.Helper()
		if got, err := s.Thread(t.Context(), th.ID); err != nil || got.Status != want {
			t.Errorf("thread: got %s, %v, want %s", got.Status, err, want)
		}
	}
	status(agents.ThreadInterrupted)
	if err := s.CreateRun(t.Context(), run(t, th.ID), nil, nil); !errors.Is(err, agents.ErrBusy) {
		t.Errorf("a second run while the first waits: got %v, want %v", err, agents.ErrBusy)
	}
	got, err := s.Run(t.Context(), r.ID)
	if err != nil || !cmp.Equal(got, r) {
		t.Errorf("got %v, %s", err, cmp.Diff(r, got))
	}
	if err := s.ResumeRun(t.Context(), &stale); !errors.Is(err, agents.ErrConflict) {
		t.Errorf("resuming an old version: got %v, want %v", err, agents.ErrConflict)
	}
	status(agents.ThreadInterrupted)
	got.Status = agents.Running
	if err := s.ResumeRun(t.Context(), got); err != nil {
		t.Fatalf("ResumeRun: %v", err)
	}
	status(agents.ThreadBusy)
	finish(t, s, got, "done")
	status(agents.ThreadIdle)
}
