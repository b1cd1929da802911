// Package audittest is the conformance suite of audit.Store. Every implementation passes it:
//
//	func TestConformance(t *testing.T) {
//		audittest.Conformance(t, func(t *testing.T) audit.Store { … an empty store … })
//	}
//
// Tests of other packages get a whole log, on the embedded store, from Open. The functions are called
// by one goroutine a test.
package audittest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/audit"
)

// patience bounds how long something may take; it is only spent on failure.
const patience = 5 * time.Second

// Conformance checks that the stores made by open behave as audit.Store documents. open is called
// once a test and returns an empty store, which the suite closes.
func Conformance(t *testing.T, open func(t *testing.T) audit.Store) {
	for name, test := range map[string]func(*testing.T, audit.Store){
		"records are read back as they were": roundTrip,
		"a batch is all or nothing":          atomic,
		"filters":                            filters,
		"run records":                        runs,
		"accepted is written in time":        enqueued,
		"accepted comes before appended":     ordered,
		"many writers lose nothing":          concurrent,
		"ended contexts":                     ended,
		"backup":                             backup,
		"old records are removed":            removal,
		"runs that are over leave":           runsLeave,
		"queries":                            queries,
		"queries change nothing":             fenced,
		"its mark":                           marks,
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			test(t, s)
			if err := s.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
			if err := s.Append(t.Context(), event("late", "")); !errors.Is(err, audit.ErrUnavailable) {
				t.Errorf("Append after Close: got %v, want ErrUnavailable", err)
			}
			if err := s.Close(); err != nil {
				t.Errorf("Close again: %v", err)
			}
		})
	}
}

var start = time.Date(2027, 1, 31, 23, 59, 59, 999_000_000, time.UTC)

// event makes a batch of one event; path tells it from others.
func event(path, user string) audit.Batch {
	return audit.Batch{Events: []audit.Event{{Time: start, Node: "n", Type: audit.Request, Path: path, User: user, Hash: "h"}}}
}

func record(t *testing.T, s audit.Store, b audit.Batch) {
	t.Helper()
	if err := s.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, s audit.Store, f audit.Filter) (all []audit.Event) {
	t.Helper()
	for e, err := range s.Events(t.Context(), f) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

func paths(t *testing.T, s audit.Store, f audit.Filter) (all []string) {
	t.Helper()
	for _, e := range read(t, s, f) {
		all = append(all, e.Path)
	}
	return all
}

func roundTrip(t *testing.T, s audit.Store) {
	full := audit.Event{
		Time: start, Node: "node", Type: audit.ToolEnd, Run: "run", Thread: "thread", Agent: "agent", User: "user", Role: "role",
		OnBehalfOf: "other", Address: "address", TokenID: "token", RequestID: "request", Call: "call", Tool: "tool", Action: "action",
		Input: "{\"a\":\"\\u0001\"}", Output: "line\r\n\ttab \U0001F600 \u2028 'quote' \"double\" \x01\x7f", Duration: 0.123457,
		Error: "error", Traceback: "traceback", Decision: "decision", Rule: "rule", Reasons: []string{"a", "\"b\"", ""},
		PolicyHash: "policy", PolicyInput: json.RawMessage(`{"time":"x"}`), Digest: "digest", Findings: json.RawMessage(`[{"rule":"x"}]`), Labels: []string{"user"},
		Status: "status", Method: "POST", Path: "/", Code: 200, Hash: "hash",
	}
	least := audit.Event{Time: start.Add(time.Millisecond), Node: "node", Type: audit.Login, Hash: "hash"}
	record(t, s, audit.Batch{Events: []audit.Event{full, least}})
	got := read(t, s, audit.Filter{})
	if len(got) != 2 || got[0].Seq <= 0 || got[1].Seq <= got[0].Seq {
		t.Fatalf("got %+v, want two events with growing seq", got)
	}
	full.Seq, least.Seq = got[0].Seq, got[1].Seq
	if diff := cmp.Diff([]audit.Event{full, least}, got); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
}

func atomic(t *testing.T, s audit.Store) {
	first := event("first", "")
	record(t, s, first)
	seq := read(t, s, audit.Filter{})[0].Seq
	bad := event("new", "")
	bad.Events = append(bad.Events, first.Events[0])
	bad.Events[1].Seq = seq // taken
	if err := s.Append(t.Context(), bad); err == nil || errors.Is(err, audit.ErrUnavailable) {
		t.Errorf("a seq that is taken: got %v, want an error that does not blame the storage", err)
	}
	if got := paths(t, s, audit.Filter{}); len(got) != 1 {
		t.Errorf("got %v, want the first event alone", got)
	}
	if err := s.Enqueue(t.Context(), bad); err != nil {
		t.Fatal(err)
	}
	if err := s.Flush(t.Context()); err == nil || errors.Is(err, audit.ErrUnavailable) {
		t.Errorf("Flush after a batch that is refused: got %v, want an error that does not blame the storage", err)
	}
	if err := s.Flush(t.Context()); err != nil {
		t.Errorf("Flush after that: %v", err)
	}
	if got := paths(t, s, audit.Filter{}); len(got) != 1 {
		t.Errorf("got %v, want the first event alone", got)
	}
	if err := s.Healthy(t.Context()); err != nil {
		t.Errorf("Healthy: %v", err)
	}
}

func filters(t *testing.T, s audit.Store) {
	var b audit.Batch
	for i := range 6 {
		e := event(fmt.Sprint(i), []string{"ann", "bob"}[i%2]).Events[0]
		e.Time = start.Add(time.Duration(i) * time.Second)
		e.Run = []string{"r1", "r2", ""}[i/2]
		b.Events = append(b.Events, e)
	}
	record(t, s, b)
	first := read(t, s, audit.Filter{Limit: 1})[0].Seq
	at := func(i int) time.Time { return start.Add(time.Duration(i) * time.Second) }
	for name, c := range map[string]struct {
		f    audit.Filter
		want string
	}{
		"all":             {audit.Filter{}, "[0 1 2 3 4 5]"},
		"user":            {audit.Filter{User: "bob"}, "[1 3 5]"},
		"unknown user":    {audit.Filter{User: "b%"}, "[]"},
		"run":             {audit.Filter{Run: "r2"}, "[2 3]"},
		"user and run":    {audit.Filter{User: "ann", Run: "r2"}, "[2]"},
		"since":           {audit.Filter{Since: at(4)}, "[4 5]"},
		"just after":      {audit.Filter{Since: at(4).Add(1)}, "[5]"},
		"until":           {audit.Filter{Until: at(2)}, "[0 1]"},
		"until, included": {audit.Filter{Until: at(2).Add(1)}, "[0 1 2]"},
		"another zone":    {audit.Filter{Since: at(4).In(time.FixedZone("", 3600))}, "[4 5]"},
		"after":           {audit.Filter{After: first + 3}, "[4 5]"},
		"limit":           {audit.Filter{Limit: 2}, "[0 1]"},
		"newest":          {audit.Filter{Limit: 2, Newest: true}, "[5 4]"},
		"newest of user":  {audit.Filter{User: "ann", Limit: 1, Newest: true}, "[4]"},
	} {
		if got := fmt.Sprint(paths(t, s, c.f)); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
	for e, err := range s.Events(t.Context(), audit.Filter{}) { // a reader may stop
		if err != nil || e.Path != "0" {
			t.Errorf("got %q, %v; want 0", e.Path, err)
		}
		break
	}
}

func runs(t *testing.T, s audit.Store) {
	want := []audit.RunRecord{
		{Time: start, Node: "n", Run: "r1", Thread: "t", Agent: "core", Model: "demo", User: "ann", PromptTokens: 1, CompletionTokens: 2, TotalTokens: 3, Estimated: true, Duration: 0.5, Hash: "h"},
		{Time: start, Node: "n", Run: "r2", Hash: "h"},
	}
	record(t, s, audit.Batch{Runs: want})
	var got []audit.RunRecord
	for r, err := range s.Runs(t.Context(), audit.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r)
	}
	if len(got) == 2 {
		want[0].Seq, want[1].Seq = got[0].Seq, got[1].Seq
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
	for r, err := range s.Runs(t.Context(), audit.Filter{Run: "r2"}) {
		if err != nil || r.Run != "r2" {
			t.Errorf("got %q, %v; want r2", r.Run, err)
		}
	}
}

// enqueued allows a slow machine 20 times the promised 100 ms.
func enqueued(t *testing.T, s audit.Store) {
	if err := s.Enqueue(t.Context(), event("a", "")); err != nil {
		t.Fatal(err)
	}
	for begin := time.Now(); len(paths(t, s, audit.Filter{})) == 0; {
		if time.Since(begin) > 2*time.Second {
			t.Fatal("an accepted event was not written within 2 s")
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-t.Context().Done():
		}
	}
}

func ordered(t *testing.T, s audit.Store) {
	const n = 3000
	for i := range n {
		if err := s.Enqueue(t.Context(), event(fmt.Sprint(i), "")); err != nil {
			t.Fatal(err)
		}
	}
	record(t, s, event("last", ""))
	got := paths(t, s, audit.Filter{})
	if len(got) != n+1 || got[n] != "last" {
		t.Fatalf("got %d events, want %d with the appended one at the end", len(got), n+1)
	}
	for i, p := range got[:n] {
		if p != fmt.Sprint(i) {
			t.Fatalf("got %s at %d", p, i)
		}
	}
}

func concurrent(t *testing.T, s audit.Store) {
	ctx, cancel := context.WithTimeout(t.Context(), 4*patience)
	defer cancel()
	var wg sync.WaitGroup
	for g := range 16 {
		wg.Go(func() {
			for i := range 100 {
				how := s.Append
				if (g+i)%2 == 0 {
					how = s.Enqueue
				}
				if err := how(ctx, event(fmt.Sprintf("%d-%d", g, i), "")); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if err := s.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]int)
	for _, p := range paths(t, s, audit.Filter{}) {
		seen[p]++
	}
	for g := range 16 {
		for i := range 100 {
			if p := fmt.Sprintf("%d-%d", g, i); seen[p] != 1 {
				t.Errorf("event %s is there %d times", p, seen[p])
			}
		}
	}
}

func ended(t *testing.T, s audit.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, err := range map[string]error{
		"Append":  s.Append(ctx, event("a", "")),
		"Enqueue": s.Enqueue(ctx, event("b", "")),
		"Flush":   s.Flush(ctx),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v, want context.Canceled", name, err)
		}
	}
	for _, err := range s.Events(ctx, audit.Filter{}) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("Events: got %v, want context.Canceled", err)
		}
	}
	if got := paths(t, s, audit.Filter{}); len(got) > 0 {
		t.Errorf("got %v, want nothing written", got)
	}
}

func backup(t *testing.T, s audit.Store) {
	record(t, s, event("a", ""))
	path := filepath.Join(t.TempDir(), "copy")
	if err := s.Backup(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() == 0 || info.Mode().Perm() != 0o600 {
		t.Fatalf("got %v, %v; want a file with mode 600", info, err)
	}
	if err := s.Backup(t.Context(), path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("an existing file: got %v, want fs.ErrExist", err)
	}
	if again, err := os.Stat(path); err != nil || again.ModTime() != info.ModTime() {
		t.Errorf("the existing file was touched")
	}
}

func marks(t *testing.T, s audit.Store) {
	first, err := s.Mark(t.Context())
	if err != nil || first.Log == "" || first.Seq != 0 {
		t.Fatalf("an empty log: got %+v, %v; want an id and no records", first, err)
	}
	record(t, s, event("a", ""))
	record(t, s, event("b", ""))
	then, err := s.Mark(t.Context())
	if err != nil || then.Log != first.Log {
		t.Fatalf("got %+v, %v; want the id %s", then, err, first.Log)
	}
	all := read(t, s, audit.Filter{})
	if last := all[len(all)-1].Seq; then.Seq != last {
		t.Errorf("got the seq %d, want that of the last event, %d", then.Seq, last)
	}
	if err := s.Check(t.Context()); err != nil {
		t.Errorf("Check: %v", err)
	}
}
