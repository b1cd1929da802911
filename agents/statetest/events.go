package statetest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/eventlog"
	"github.com/svc-gateway/svc/agents/model"
)

func eventPieces(t *testing.T, s agents.Store) {
	th := thread(t, s, "ada", now)
	r := run(t, th.ID)
	create(t, s, r, nil)
	const total = 25
	var all []eventlog.Event
	for i := range total {
		all = append(all, eventlog.Event{Seq: i, Type: eventlog.Chunk, Content: fmt.Sprint(i)})
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
	piece := func(from int) []eventlog.Event {
		return []eventlog.Event{{Seq: from, Type: eventlog.Chunk}, {Seq: from + 1, Type: eventlog.Chunk}}
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
