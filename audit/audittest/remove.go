package audittest

import (
	"testing"
	"time"

	"github.com/svc-gateway/svc/audit"
)

// removal: only what is old and of the types goes, and what stays keeps its Seq.
func removal(t *testing.T, s audit.Store) {
	const hours = 1500
	kinds := []string{audit.Request, audit.ToolStart, audit.Flood}
	for i := range hours {
		e := audit.Event{Time: start.Add(time.Duration(i) * time.Hour), Node: "n", Type: kinds[i%len(kinds)], Hash: "h"}
		if err := s.Enqueue(t.Context(), audit.Batch{Events: []audit.Event{e}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	ask := audit.Span{Types: []string{audit.Request, audit.Flood}, Before: start.Add(1200 * time.Hour)}
	find := func(after int64, n int) audit.Span {
		t.Helper()
		ask.Seen = after
		got, err := s.Removable(t.Context(), ask, n)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := find(hours, 100); got.Seen != 0 || got.Count != 0 {
		t.Errorf("after the last: got %+v, want nothing", got)
	}
	if got := find(0, 600); got.Count != 400 || got.From != 1 || got.To != 600 || got.Seen != 600 || got.Newer {
		t.Errorf("the first 600: got %+v", got)
	}
	if got := find(1200, 1); got.Count != 0 || got.Seen != 1201 || !got.Newer {
		t.Errorf("a newer one: got %+v", got)
	}
	all := find(0, 10_000)
	if all.Count != 800 || all.Seen != hours || !all.Newer {
		t.Errorf("got %+v, want 800", all)
	}
	if n, err := s.Remove(t.Context(), all); err != nil || n != 800 {
		t.Fatalf("got %d removed, %v, want 800", n, err)
	}
	if n, err := s.Remove(t.Context(), all); err != nil || n != 0 {
		t.Errorf("again: got %d removed, %v", n, err)
	}
	left := read(t, s, audit.Filter{})
	if len(left) != hours-800 {
		t.Errorf("%d are left, want %d", len(left), hours-800)
	}
	for _, e := range left {
		if hour := int(e.Seq) - 1; e.Type != kinds[hour%len(kinds)] || !e.Time.Equal(start.Add(time.Duration(hour)*time.Hour)) {
			t.Fatalf("%d is now %+v", hour, e)
		}
	}
}
