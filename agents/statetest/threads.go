package statetest

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents"
)

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
