// Package statetest is what every implementation of [agents.Store] must pass.
//
// Call [Conformance] from the implementation's own tests. It is not safe to share one store
// between two calls.
package statetest

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/model"
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
		{"a run that begins earlier makes a branch, and can be taken back", branches},
		{"writes between runs change the state", writes},
		{"an edit is written with the end of a run", edits},
		{"a thread holds so much", room},
		{"runs wait for their thread and their time, in order", queueing},
		{"there is one run for a request", requests},
		{"threads are found by what they contain, and sorted", filtering},
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
