package statetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/eventlog"
)

func removal(t *testing.T, s agents.Store) {
	th, other := thread(t, s, "ada", now), thread(t, s, "ada", now)
	var runs []string
	for range 3 {
		r := run(t, th.ID)
		create(t, s, r, nil)
		if err := s.DeleteThread(t.Context(), th.ID, time.Time{}); !errors.Is(err, agents.ErrBusy) {
			t.Fatalf("while a run is active: got %v, want %v", err, agents.ErrBusy)
		}
		for i := range 300 {
			if err := s.AppendEvents(t.Context(), r.ID, []eventlog.Event{{Seq: i, Type: eventlog.Chunk, Content: "x"}}); err != nil {
				t.Fatal(err)
			}
		}
		finish(t, s, r, "answer")
		runs = append(runs, r.ID)
	}
	kept := run(t, other.ID)
	create(t, s, kept, nil)
	finish(t, s, kept, "stays")

	if err := s.DeleteThread(t.Context(), th.ID, time.Time{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Thread(t.Context(), th.ID); !errors.Is(err, agents.ErrThreadNotFound) {
		t.Errorf("the thread: got %v, want %v", err, agents.ErrThreadNotFound)
	}
	if err := s.DeleteThread(t.Context(), th.ID, time.Time{}); !errors.Is(err, agents.ErrThreadNotFound) {
		t.Errorf("a second time: got %v, want %v", err, agents.ErrThreadNotFound)
	}
	if err := s.CreateRun(t.Context(), run(t, th.ID), nil, nil); !errors.Is(err, agents.ErrThreadNotFound) {
		t.Errorf("a run: got %v, want %v", err, agents.ErrThreadNotFound)
	}
	if messages, err := s.Messages(t.Context(), th.ID, -1); err != nil || len(messages) != 0 {
		t.Errorf("got %d messages, %v", len(messages), err)
	}
	for _, id := range runs {
		if _, err := s.RunInfo(t.Context(), id); !errors.Is(err, agents.ErrRunNotFound) {
			t.Errorf("a run: got %v, want %v", err, agents.ErrRunNotFound)
		}
		if events, err := s.Events(t.Context(), id, 0, 10); err != nil || len(events) != 0 {
			t.Errorf("got %d events, %v", len(events), err)
		}
	}
	threads, total, err := s.Threads(t.Context(), agents.ThreadFilter{Limit: 10})
	if err != nil || total != 1 || len(threads) != 1 || threads[0].ID != other.ID {
		t.Errorf("got %v, %d, %v, want the other one", threads, total, err)
	}
	if messages, err := s.Messages(t.Context(), other.ID, -1); err != nil || len(messages) != 2 {
		t.Errorf("the other one has %d messages, %v, want two", len(messages), err)
	}
}

// A run either gets the thread, or finds that it is gone; never half of one.
func removalBeside(t *testing.T, s agents.Store) {
	for range 20 {
		th := thread(t, s, "ada", now)
		r := run(t, th.ID)
		var deleted, created error
		var wg sync.WaitGroup
		wg.Go(func() { deleted = s.DeleteThread(t.Context(), th.ID, time.Time{}) })
		wg.Go(func() { created = s.CreateRun(t.Context(), r, r.Frames[0].Messages, nil) })
		wg.Wait()
		switch {
		case deleted == nil && errors.Is(created, agents.ErrThreadNotFound):
			if _, err := s.RunInfo(t.Context(), r.ID); !errors.Is(err, agents.ErrRunNotFound) {
				t.Errorf("a run of a thread that is gone: got %v", err)
			}
		case errors.Is(deleted, agents.ErrBusy) && created == nil:
			if messages, err := s.Messages(t.Context(), th.ID, -1); err != nil || len(messages) != 1 {
				t.Errorf("got %d messages, %v, want one", len(messages), err)
			}
		default:
			t.Errorf("deleting gave %v, and a run %v", deleted, created)
		}
	}
}

func staleness(t *testing.T, s agents.Store) {
	var listed []string
	for i := range 5 {
		listed = append(listed, thread(t, s, "ada", now.Add(time.Duration(i)*time.Hour)).ID)
	}
	var ephemeral []*agents.Run
	for i := range 3 {
		at := now.Add(time.Duration(i) * time.Hour)
		th := agents.Thread{ID: id(t), Owner: "ada", Created: at, Updated: at, Status: agents.ThreadBusy, Ephemeral: true}
		r := run(t, th.ID)
		r.Updated = at
		create(t, s, r, &th)
		if i < 2 {
			finish(t, s, r, "answer")
		}
		ephemeral = append(ephemeral, r)
	}
	for _, tc := range []struct {
		name      string
		ephemeral bool
		before    time.Time
		limit     int
		want      []string
	}{
		{"none is that old", false, now, 10, nil},
		{"some are", false, now.Add(2*time.Hour + time.Minute), 10, listed[:3]},
		{"the oldest of them", false, now.Add(24 * time.Hour), 2, listed[:2]},
		{"the ephemeral ones that no run has", true, now.Add(24 * time.Hour), 10, []string{ephemeral[0].Thread, ephemeral[1].Thread}},
	} {
		got, err := s.StaleThreads(t.Context(), tc.ephemeral, tc.before, tc.limit)
		if err != nil || !cmp.Equal(got, tc.want) {
			t.Errorf("%s: %v, %s", tc.name, err, cmp.Diff(tc.want, got))
		}
	}
	staleEvents(t, s, ephemeral)

	// One that was listed and then used again stays.
	last := thread(t, s, "ada", now)
	r := run(t, last.ID)
	r.Updated = now.Add(2 * time.Hour)
	create(t, s, r, nil)
	finish(t, s, r, "answer")
	if err := s.DeleteThread(t.Context(), last.ID, now.Add(time.Hour)); !errors.Is(err, agents.ErrBusy) {
		t.Errorf("a thread that is in use again: got %v, want %v", err, agents.ErrBusy)
	}
	if err := s.DeleteThread(t.Context(), last.ID, now.Add(3*time.Hour)); err != nil {
		t.Errorf("got %v", err)
	}
}

func staleEvents(t *testing.T, s agents.Store, runs []*agents.Run) {
	for _, r := range runs {
		if err := s.AppendEvents(t.Context(), r.ID, []eventlog.Event{{Seq: 0, Type: eventlog.Done}}); err != nil {
			t.Fatal(err)
		}
	}
	later := time.Now().Add(time.Hour)
	if yes, err := s.StaleEvents(t.Context(), now); err != nil || yes {
		t.Errorf("events of before: got %v, %v", yes, err)
	}
	if yes, err := s.StaleEvents(t.Context(), later); err != nil || !yes {
		t.Errorf("events: got %v, %v, want some", yes, err)
	}
	before, err := s.Size(t.Context())
	if err != nil || before <= 0 {
		t.Errorf("got the size %d, %v", before, err)
	}
	if n, err := s.DeleteEvents(t.Context(), later); err != nil || n != 2 {
		t.Errorf("got %d pieces, %v, want those of two runs", n, err)
	}
	if n, err := s.DeleteEvents(t.Context(), later); err != nil || n != 0 {
		t.Errorf("a second time: got %d pieces, %v, want none", n, err)
	}
	for i, r := range runs {
		events, err := s.Events(t.Context(), r.ID, 0, 10)
		if want := i / 2; err != nil || len(events) != want {
			t.Errorf("%s: got %d events, %v, want %d", fmt.Sprint("run ", i), len(events), err, want)
		}
	}
}
