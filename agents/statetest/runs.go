package statetest

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents"
)

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
