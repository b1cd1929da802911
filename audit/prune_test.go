package audit_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/svc-gateway/svc/audit"
)

func TestPrune(t *testing.T) {
	l := open(t)
	old := time.Now().Add(-48 * time.Hour)
	for i := range 100 {
		at := old.Add(time.Duration(i) * time.Minute)
		if err := l.Record(t.Context(), audit.Event{Type: audit.Request, User: "ann", Time: at, Path: "/old"},
			audit.Event{Type: audit.ToolStart, Run: "r", Call: "c", Time: at}, audit.Event{Type: audit.Login, User: "ann", Time: at}); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Record(t.Context(), audit.Event{Type: audit.Request, User: "ann", Path: "/new"}); err != nil {
		t.Fatal(err)
	}
	if n, err := l.Prune(t.Context(), old, 0); err != nil || n != 0 {
		t.Errorf("nothing is that old: got %d, %v", n, err)
	}
	if n, err := l.Prune(t.Context(), time.Now().Add(-24*time.Hour), 0); err != nil || n != 100 {
		t.Fatalf("got %d removed, %v, want 100", n, err)
	}
	if n, err := l.Prune(t.Context(), time.Now().Add(-24*time.Hour), 0); err != nil || n != 0 {
		t.Errorf("again: got %d, %v", n, err)
	}
	if err := l.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	events, err := l.Events(t.Context(), audit.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	count, seen := map[string]int{}, map[int64]bool{}
	var said []struct{ From, To, Count int64 }
	for _, e := range events {
		if err := audit.Verify(e); err != nil {
			t.Error(err)
		}
		count[e.Type]++
		seen[e.Seq] = true
		if e.Type == audit.Retention {
			said = append(said, struct{ From, To, Count int64 }{})
			if err := json.Unmarshal([]byte(e.Input), &said[len(said)-1]); err != nil {
				t.Error(err)
			}
		}
	}
	if count[audit.Request] != 1 || count[audit.ToolStart] != 100 || count[audit.Login] != 100 || count[audit.Retention] != 2 {
		t.Fatalf("got %v", count)
	}
	// What is missing is what the log says.
	missing := int64(0)
	for seq := said[0].From; seq <= said[0].To; seq++ {
		if !seen[seq] {
			missing++
		}
	}
	if missing != 100 || said[0].Count != 100 || said[1].Count != 100 || said[0].From != 1 {
		t.Errorf("%d are missing, and the log says %+v", missing, said)
	}
}

// The newest record is never removed, so that no Seq is given twice.
func TestPruneKeepsTheNewest(t *testing.T) {
	l := open(t)
	old := time.Now().Add(-48 * time.Hour)
	if err := l.Record(t.Context(), audit.Event{Type: audit.Request, User: "ann", Time: old}); err != nil {
		t.Fatal(err)
	}
	if n, err := l.Prune(t.Context(), time.Now(), 0); err != nil || n != 1 {
		t.Fatalf("got %d, %v", n, err)
	}
	if err := l.Record(t.Context(), audit.Event{Type: audit.Login, User: "ann"}); err != nil {
		t.Fatal(err)
	}
	events, err := l.Events(t.Context(), audit.Filter{})
	if err != nil || events[0].Seq != 2 || events[len(events)-1].Type != audit.Login || events[len(events)-1].Seq != 4 {
		t.Errorf("got %+v, %v, want the numbers 2 to 4", events, err)
	}
}

// A removal is worth its own two records: a few wait for others, for a day.
func TestPruneFew(t *testing.T) {
	l := open(t)
	at := time.Now().Add(-48 * time.Hour)
	for range 3 {
		if err := l.Record(t.Context(), audit.Event{Type: audit.Request, User: "ann", Time: at}, audit.Event{Type: audit.Request, User: "ann"}); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := l.Prune(t.Context(), at.Add(23*time.Hour), 0); err != nil || n != 0 {
		t.Errorf("three that are due for less than a day: got %d, %v, want none removed", n, err)
	}
	if n, err := l.Prune(t.Context(), at.Add(25*time.Hour), 0); err != nil || n != 3 {
		t.Errorf("three that are due for more than a day: got %d, %v, want 3", n, err)
	}
}

// Whatever their age, the oldest requests go until the log is small enough, and nothing else.
func TestPruneBySize(t *testing.T) {
	l := open(t)
	for i := range 6000 {
		e := audit.Event{Type: audit.Request, User: "ann", Path: "/" + strings.Repeat("x", 500)}
		if i%100 == 0 {
			e = audit.Event{Type: audit.ToolStart, Run: "r", Call: "c"}
		}
		if err := l.Queue(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	count := func() (requests, calls int) {
		events, err := l.Events(t.Context(), audit.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			switch e.Type {
			case audit.Request:
				requests++
			case audit.ToolStart:
				calls++
			}
		}
		return requests, calls
	}
	if n, err := l.Prune(t.Context(), time.Time{}, 1<<40); err != nil || n != 0 {
		t.Errorf("it is small enough: got %d, %v", n, err)
	}
	n, err := l.Prune(t.Context(), time.Time{}, 2<<20)
	requests, calls := count()
	if err != nil || n < 1000 || requests != 5940-n || requests < 1000 || calls != 60 {
		t.Errorf("got %d removed, %v; %d requests and %d calls are left", n, err, requests, calls)
	}
	if _, err := l.Prune(t.Context(), time.Time{}, 1); err != nil { // more than can be had
		t.Fatal(err)
	}
	if requests, calls := count(); requests != 0 || calls != 60 {
		t.Errorf("%d requests and %d calls are left, want none and 60", requests, calls)
	}
}
