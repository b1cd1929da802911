// Package statetest is what every implementation of [agents.Store] must pass.
//
// Call [Conformance] from the implementation's own tests. It is not safe to share one store
// between two calls.
package statetest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/scanner"
)

// Conformance runs the suite; open gives each test an empty store.
func Conformance(t *testing.T, open func(t *testing.T) agents.Store) {
	t.Helper()
	for _, tc := range []struct {
		name string
		run  func(t *testing.T, s agents.Store)
	}{
		{"a thread is read back as it was created", threadRoundTrip},
		{"threads are listed by owner and status, newest first, in pages", listing},
		{"a run claims its thread until it is finished", claiming},
		{"one of many runs that want a thread gets it", contention},
		{"a save with an old version is a conflict and changes nothing", compareAndSwap},
		{"messages keep their order over runs", messageOrder},
		{"events are read from any number on, over pieces", eventPieces},
		{"events that somebody else has written are a conflict", eventConflict},
		{"a run that waits keeps its thread and all that it knows", waiting},
		{"runs are listed by thread, owner and status, newest first, in pages", runListing},
		{"a thread is removed with all that it had, once no run has it", removal},
		{"the removal of a thread is one for who else reads and writes", removalBeside},
		{"what is old is found and removed, the oldest first", staleness},
		{"what is not there is not found", missing},
		{"a store that cannot be used says so", unavailable},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.run(t, open(t)) })
	}
}

func id(t *testing.T) string {
	t.Helper()
	v, err := uuid.NewV7()
	if err != nil {
		t.Fatal(err)
	}
	return v.String()
}

var now = time.Date(2026, 3, 1, 12, 0, 0, 5e6, time.UTC)

func thread(t *testing.T, s agents.Store, owner string, at time.Time) agents.Thread {
	t.Helper()
	th := agents.Thread{
		ID: id(t), Owner: owner, Created: at, Updated: at, Status: agents.ThreadIdle, Metadata: map[string]any{"k": "v"},
	}
	if err := s.CreateThread(t.Context(), th); err != nil {
		t.Fatalf("CreateThread: %v", err)
	}
	return th
}

func run(t *testing.T, threadID string) *agents.Run {
	t.Helper()
	return &agents.Run{
		ID: id(t), Thread: threadID, Assistant: "core", Status: agents.Running, Created: now, Updated: now, Input: 1,
		Frames: []agents.Frame{{Agent: "core", Messages: []model.Message{say("user", "hello")}}},
	}
}

func say(role, text string) model.Message { return model.Message{Role: role, Content: text} }

func create(t *testing.T, s agents.Store, r *agents.Run, fresh *agents.Thread) {
	t.Helper()
	if err := s.CreateRun(t.Context(), r, r.Frames[0].Messages, fresh); err != nil {
		t.Fatalf("CreateRun: %v", err)
	}
}

func finish(t *testing.T, s agents.Store, r *agents.Run, answer string) {
	t.Helper()
	r.Status = agents.Success
	if err := s.FinishRun(t.Context(), r, []model.Message{say("assistant", answer)}, nil); err != nil {
		t.Fatalf("FinishRun: %v", err)
	}
}

func threadRoundTrip(t *testing.T, s agents.Store) {
	want := thread(t, s, "ada", now)
	got, err := s.Thread(t.Context(), want.ID)
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("got %v, %s", err, cmp.Diff(want, got))
	}
	if err := s.CreateThread(t.Context(), want); !errors.Is(err, agents.ErrConflict) {
		t.Errorf("creating it again: got %v, want %v", err, agents.ErrConflict)
	}
}

func listing(t *testing.T, s agents.Store) {
	old, young := thread(t, s, "ada", now), thread(t, s, "ada", now.Add(time.Minute))
	thread(t, s, "bob", now)
	create(t, s, run(t, old.ID), nil)
	fresh := agents.Thread{ID: id(t), Owner: "ada", Created: now, Updated: now, Status: agents.ThreadBusy, Ephemeral: true}
	create(t, s, run(t, fresh.ID), &fresh)
	for _, tc := range []struct {
		name   string
		filter agents.ThreadFilter
		want   []string
		total  int
	}{
		{"owner", agents.ThreadFilter{Owner: "ada", Limit: 10}, []string{young.ID, old.ID}, 2},
		{"page", agents.ThreadFilter{Owner: "ada", Limit: 1, Offset: 1}, []string{old.ID}, 2},
		{"status", agents.ThreadFilter{Owner: "ada", Status: agents.ThreadBusy, Limit: 10}, []string{old.ID}, 1},
		{"beyond", agents.ThreadFilter{Owner: "ada", Limit: 10, Offset: 5}, nil, 2},
		{"nobody", agents.ThreadFilter{Owner: "eve", Limit: 10}, nil, 0},
	} {
		list, total, err := s.Threads(t.Context(), tc.filter)
		if err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		var got []string
		for _, th := range list {
			got = append(got, th.ID)
		}
		if !cmp.Equal(got, tc.want) || total != tc.total {
			t.Errorf("%s: got %v of %d, want %v of %d", tc.name, got, total, tc.want, tc.total)
		}
	}
	if _, total, _ := s.Threads(t.Context(), agents.ThreadFilter{Limit: 10}); total != 3 {
		t.Errorf("everybody's: got %d, want 3", total)
	}
}

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

func messageOrder(t *testing.T, s agents.Store) {
	th := thread(t, s, "ada", now)
	want := []string{}
	for i := range 3 {
		r := run(t, th.ID)
		create(t, s, r, nil)
		answer := fmt.Sprint("answer ", i)
		finish(t, s, r, answer)
		want = append(want, "hello", answer)
	}
	for _, n := range []int{-1, 3} {
		messages, err := s.Messages(t.Context(), th.ID, n)
		if err != nil {
			t.Fatal(err)
		}
		got := []string{}
		for _, m := range messages {
			got = append(got, m.Content)
		}
		part := want
		if n >= 0 {
			part = want[:n]
		}
		if !cmp.Equal(got, part) {
			t.Errorf("the first %d: got %v, want %v", n, got, part)
		}
	}
}

func eventPieces(t *testing.T, s agents.Store) {
	th := thread(t, s, "ada", now)
	r := run(t, th.ID)
	create(t, s, r, nil)
	const total = 25
	var all []agents.Event
	for i := range total {
		all = append(all, agents.Event{Seq: i, Type: agents.EventChunk, Content: fmt.Sprint(i)})
	}
	for from := 0; from < 20; from += 5 {
		if err := s.AppendEvents(t.Context(), r.ID, all[from:from+5]); err != nil {
			t.Fatalf("AppendEvents: %v", err)
		}
	}
	r.Status = agents.Success
	if err := s.FinishRun(t.Context(), r, nil, all[20:]); err != nil {
		t.Fatalf("FinishRun: %v", err)
	}
	for from := range total + 2 {
		for _, limit := range []int{1, 7, 100} {
			got, err := s.Events(t.Context(), r.ID, from, limit)
			if err != nil {
				t.Fatal(err)
			}
			want := all[min(from, total):min(from+limit, total)]
			if len(got) != len(want) || len(want) > 0 && !cmp.Equal(got, want) {
				t.Errorf("from %d, limit %d: got %d events, want %d", from, limit, len(got), len(want))
			}
		}
	}
}

func eventConflict(t *testing.T, s agents.Store) {
	r := run(t, thread(t, s, "ada", now).ID)
	create(t, s, r, nil)
	piece := func(from int) []agents.Event {
		return []agents.Event{{Seq: from, Type: agents.EventChunk}, {Seq: from + 1, Type: agents.EventChunk}}
	}
	for _, from := range []int{0, 2} {
		if err := s.AppendEvents(t.Context(), r.ID, piece(from)); err != nil {
			t.Fatalf("AppendEvents: %v", err)
		}
	}
	if err := s.AppendEvents(t.Context(), r.ID, piece(2)); !errors.Is(err, agents.ErrConflict) {
		t.Errorf("the same numbers again: got %v, want %v", err, agents.ErrConflict)
	}
	r.Status = agents.Success
	if err := s.FinishRun(t.Context(), r, []model.Message{say("assistant", "x")}, piece(2)); !errors.Is(err, agents.ErrConflict) {
		t.Errorf("finishing with them: got %v, want %v", err, agents.ErrConflict)
	}
	if got, err := s.Run(t.Context(), r.ID); err != nil || got.Status != agents.Running {
		t.Errorf("after a refused finish: got %+v, %v", got, err)
	}
	if next, err := s.NextEvent(t.Context(), r.ID); err != nil || next != 4 {
		t.Errorf("next event: got %d, %v, want 4", next, err)
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

func runListing(t *testing.T, s agents.Store) {
	var ids []string // of three of ada's and one of bob's
	for i, owner := range []string{"ada", "ada", "bob", "ada"} {
		r := run(t, thread(t, s, owner, now).ID)
		r.Principal.User = "root" // a run is its thread's, whoever started it
		create(t, s, r, nil)
		switch i {
		case 0:
			finish(t, s, r, "done")
		case 1:
			r.Status = agents.Interrupted
			if err := s.SuspendRun(t.Context(), r); err != nil {
				t.Fatalf("SuspendRun: %v", err)
			}
		}
		ids = append(ids, r.ID)
	}
	unfinished := []agents.Status{agents.Pending, agents.Running}
	for _, tc := range []struct {
		name   string
		filter agents.RunFilter
		want   []string
	}{
		{"all", agents.RunFilter{Limit: 10}, []string{ids[3], ids[2], ids[1], ids[0]}},
		{"owner", agents.RunFilter{Owner: "ada", Limit: 10}, []string{ids[3], ids[1], ids[0]}},
		{"unfinished", agents.RunFilter{Status: unfinished, Limit: 10}, []string{ids[3], ids[2]}},
		{"owner and status", agents.RunFilter{Owner: "ada", Status: []agents.Status{agents.Interrupted, agents.Success}, Limit: 10}, []string{ids[1], ids[0]}},
		{"page", agents.RunFilter{Before: ids[3], Limit: 2}, []string{ids[2], ids[1]}},
		{"nobody", agents.RunFilter{Owner: "eve", Limit: 10}, nil},
	} {
		list, err := s.Runs(t.Context(), tc.filter)
		if err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		var got []string
		for _, r := range list {
			got = append(got, r.ID)
		}
		if !cmp.Equal(got, tc.want) {
			t.Errorf("%s: got %v, want %v", tc.name, got, tc.want)
		}
	}
	got, err := s.RunInfo(t.Context(), ids[1])
	want := agents.RunInfo{ID: ids[1], Thread: got.Thread, Owner: "ada", Assistant: "core", Status: agents.Interrupted, Version: 2, Created: now, Updated: now}
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("got %v, %s", err, cmp.Diff(want, got))
	}
}

func missing(t *testing.T, s agents.Store) {
	fresh := run(t, id(t))
	_, thread := s.Thread(t.Context(), id(t))
	_, run := s.Run(t.Context(), id(t))
	_, info := s.RunInfo(t.Context(), id(t))
	create := s.CreateRun(t.Context(), fresh, nil, nil)
	for _, tc := range []struct {
		name      string
		got, want error
	}{
		{"Thread", thread, agents.ErrThreadNotFound},
		{"Run", run, agents.ErrRunNotFound},
		{"RunInfo", info, agents.ErrRunNotFound},
		{"CreateRun", create, agents.ErrThreadNotFound},
	} {
		if !errors.Is(tc.got, tc.want) || !errors.Is(tc.got, agents.ErrNotFound) {
			t.Errorf("%s: got %v, want %v", tc.name, tc.got, tc.want)
		}
	}
}

func unavailable(t *testing.T, s agents.Store) {
	th := thread(t, s, "ada", now)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, read := s.Thread(t.Context(), th.ID)
	for name, err := range map[string]error{
		"CreateThread": s.CreateThread(t.Context(), th), "Thread": read, "SaveRun": s.SaveRun(t.Context(), run(t, th.ID)),
	} {
		if !errors.Is(err, agents.ErrUnavailable) {
			t.Errorf("%s of a closed store: got %v, want %v", name, err, agents.ErrUnavailable)
		}
	}
}
