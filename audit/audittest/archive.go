package audittest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/svc-gateway/svc/audit"
)

// runRecords are those of a run that began some hours after start and ended an hour later; without an
// end if hours is negative.
func runRecords(name string, hours int) audit.Batch {
	begin := start.Add(time.Duration(max(hours, -hours)) * time.Hour)
	event := func(kind, call string, after time.Duration) audit.Event {
		return audit.Event{Time: begin.Add(after), Node: "n", Type: kind, Run: name, Call: call, Hash: "h"}
	}
	b := audit.Batch{
		Events: []audit.Event{
			event(audit.RunStart, "", 0), event(audit.ToolWait, "c", time.Minute), event(audit.ToolStart, "c", 2*time.Minute),
			event(audit.ToolEnd, "c", 3*time.Minute), event(audit.PermissionDenied, "", 4*time.Minute), event(audit.RunEnd, "", time.Hour),
		},
		Runs: []audit.RunRecord{{Time: begin, Node: "n", Run: name, Hash: "h"}},
	}
	if hours < 0 {
		b.Events = b.Events[:3]
	}
	return b
}

// runsLeave: whole runs that are over go, and what stays keeps its Seq.
func runsLeave(t *testing.T, s audit.Store) {
	for _, b := range []audit.Batch{
		runRecords("late", 4), runRecords("waits", -1), runRecords("first", 1), runRecords("second", 2),
		runRecords("again", 1),
		{Events: []audit.Event{{Time: start.Add(9 * time.Hour), Node: "n", Type: audit.ToolEnd, Run: "again", Call: "c", Hash: "h"}}},
		runRecords("turn", 1),
		{Runs: []audit.RunRecord{{Time: start.Add(9 * time.Hour), Node: "n", Run: "turn", Hash: "h"}}},
		runRecords("newest", 1), // has the newest turn
	} {
		record(t, s, b)
	}
	types := []string{audit.RunStart, audit.RunEnd, audit.ToolWait, audit.ToolStart, audit.ToolEnd}
	past := audit.Past{Types: types, Before: start.Add(4 * time.Hour)}
	over := func(after audit.Over, n int) (all []audit.Over, names string) {
		t.Helper()
		all, err := s.Over(t.Context(), after, past, n)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range all {
			names += o.Run + " "
		}
		return all, names
	}
	all, names := over(audit.Over{}, 10)
	if names != "first second " {
		t.Fatalf("got %q, want the runs first and second", names)
	}
	if !all[0].Time.Equal(start.Add(2*time.Hour)) || all[0].Seq == 0 {
		t.Errorf("got %+v, want the time and seq of its end", all[0])
	}
	if _, names := over(audit.Over{}, 1); names != "first " {
		t.Errorf("one of them: got %q, want first", names)
	}
	if _, names := over(all[0], 10); names != "second " {
		t.Errorf("after the first: got %q, want second", names)
	}
	before := read(t, s, audit.Filter{})
	note := func() audit.Batch {
		return audit.Batch{Events: []audit.Event{{Time: start, Node: "n", Type: audit.Archive, Hash: "h"}}}
	}
	for _, count := range []int{0, 11, 13} {
		err := s.RemoveRuns(t.Context(), []string{"first", "second"}, past, count, note())
		if !errors.Is(err, audit.ErrOtherRecords) || errors.Is(err, audit.ErrUnavailable) {
			t.Errorf("%d records: got %v, want ErrOtherRecords", count, err)
		}
	}
	if got := read(t, s, audit.Filter{}); len(got) != len(before) {
		t.Fatalf("%d records are left of %d after refused removals", len(got), len(before))
	}
	if err := s.RemoveRuns(t.Context(), []string{"first", "second"}, past, 12, note()); err != nil {
		t.Fatal(err)
	}
	if _, names := over(audit.Over{}, 10); names != "" {
		t.Errorf("got %q, want no more runs", names)
	}
	seqs := map[int64]string{}
	for _, e := range before {
		seqs[e.Seq] = fmt.Sprint(e)
	}
	left, denied := 0, 0
	for _, e := range read(t, s, audit.Filter{}) {
		switch was := seqs[e.Seq]; {
		case e.Type == audit.Archive:
			if e.Seq <= before[len(before)-1].Seq {
				t.Errorf("the record of it has the seq %d, want a new one", e.Seq)
			}
			continue
		case was != fmt.Sprint(e):
			t.Errorf("%d is now %+v, was %s", e.Seq, e, was)
		case e.Run == "first" && e.Type == audit.PermissionDenied:
			denied++
		}
		left++
	}
	if left != len(before)-10 || denied != 1 {
		t.Errorf("%d events are left of %d, want ten fewer; %d of another type, want 1", left, len(before), denied)
	}
	for r, err := range s.Runs(t.Context(), audit.Filter{}) {
		if err != nil || r.Run == "first" || r.Run == "second" {
			t.Errorf("got a turn of %s, %v", r.Run, err)
		}
	}
}
