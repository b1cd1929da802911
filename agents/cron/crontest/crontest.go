// Package crontest is what every implementation of [cron.Store] must pass.
//
// Call [Conformance] from the implementation's own tests. It is not safe to share one store between two
// calls.
package crontest

import (
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/cron"
	"github.com/svc-gateway/svc/policy"
)

// Store is what the suite tests; it is closed by one of the tests.
type Store interface {
	cron.Store
	Close() error
}

// Conformance runs the suite; open gives each test an empty store.
func Conformance(t *testing.T, open func(t *testing.T) Store) {
	t.Helper()
	for _, tc := range []struct {
		name string
		run  func(t *testing.T, s Store)
	}{
		{"a cron is read back as it was created", roundTrip},
		{"how many a user has is bounded", bounded},
		{"of many saves of one version one counts", contention},
		{"what is due is found, the longest due first", due},
		{"crons are listed by owner", listing},
		{"a deleted cron is gone", deletion},
		{"a store that cannot be used says so", unavailable},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.run(t, open(t)) })
	}
}

var now = time.Date(2026, 3, 1, 12, 0, 0, 5e6, time.UTC)

const most = 100

func made(owner string, next time.Time) cron.Cron {
	return cron.Cron{
		ID: uuid.NewString(), Owner: owner, Principal: policy.Principal{User: owner, Role: policy.User, Source: policy.SourceToken, TokenID: "t"},
		Assistant: uuid.NewString(), Schedule: "* * * * *", Timezone: "Europe/Berlin", End: now.Add(time.Hour), Enabled: true,
		Payload: json.RawMessage(`{"input":"` + strings.Repeat("long ", 200) + `"}`), Metadata: map[string]any{"a": "b"},
		Created: now, Updated: now, Next: next, Version: 1, Last: cron.Outcome{Due: now, Status: cron.Started, Run: "r"},
	}
}

func create(t *testing.T, s cron.Store, c cron.Cron) cron.Cron {
	t.Helper()
	if err := s.CreateCron(t.Context(), c, most); err != nil {
		t.Fatalf("CreateCron: %v", err)
	}
	return c
}

func same(t *testing.T, s cron.Store, want cron.Cron) {
	t.Helper()
	got, err := s.Cron(t.Context(), want.ID)
	if err != nil {
		t.Fatalf("Cron: %v", err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func roundTrip(t *testing.T, s Store) {
	same(t, s, create(t, s, made("ada", now.Add(time.Minute))))
	same(t, s, create(t, s, made("ada", time.Time{})))
}

func bounded(t *testing.T, s Store) {
	var wg sync.WaitGroup
	errs := make([]error, 10)
	for n := range errs {
		wg.Go(func() { errs[n] = s.CreateCron(t.Context(), made("ada", now), 3) })
	}
	wg.Wait()
	kept := 0
	for _, err := range errs {
		if err == nil {
			kept++
		} else if !errors.Is(err, cron.ErrFull) {
			t.Errorf("got %v, want %v", err, cron.ErrFull)
		}
	}
	if kept != 3 {
		t.Errorf("%d were kept, want 3", kept)
	}
}

func contention(t *testing.T, s Store) {
	c := create(t, s, made("ada", now))
	var wg sync.WaitGroup
	var mu sync.Mutex
	var won []cron.Cron
	for n := range 10 {
		wg.Go(func() {
			mine := c
			mine.Next = now.Add(time.Duration(n) * time.Minute)
			err := s.SaveCron(t.Context(), &mine)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won = append(won, mine)
			} else if !errors.Is(err, cron.ErrConflict) {
				t.Errorf("got %v, want %v", err, cron.ErrConflict)
			}
		})
	}
	wg.Wait()
	if len(won) != 1 || won[0].Version != 2 {
		t.Fatalf("%d saves counted, want one", len(won))
	}
	same(t, s, won[0])
}

func due(t *testing.T, s Store) {
	later := create(t, s, made("ada", now.Add(time.Millisecond)))
	second := create(t, s, made("bob", now))
	first := create(t, s, made("ada", now.Add(-time.Hour)))
	create(t, s, made("ada", time.Time{}))
	ids := func(at time.Time, limit int) (ids []string) {
		t.Helper()
		list, err := s.DueCrons(t.Context(), at, limit)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range list {
			ids = append(ids, c.ID)
		}
		return ids
	}
	for name, tc := range map[string]struct{ got, want []string }{
		"now": {ids(now, 10), []string{first.ID, second.ID}}, "one": {ids(now, 1), []string{first.ID}},
		"later": {ids(now.Add(time.Second), 10), []string{first.ID, second.ID, later.ID}}, "before": {ids(now.Add(-2*time.Hour), 10), nil},
	} {
		if diff := cmp.Diff(tc.want, tc.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func listing(t *testing.T, s Store) {
	create(t, s, made("ada", now))
	create(t, s, made("ada", now))
	create(t, s, made("bob", now))
	for owner, want := range map[string]int{"ada": 2, "bob": 1, "eve": 0, "": 3} {
		n := 0
		for c, err := range s.Crons(t.Context(), owner) {
			if err != nil {
				t.Fatal(err)
			}
			if owner != "" && c.Owner != owner {
				t.Errorf("%s's is listed as %s's", c.Owner, owner)
			}
			n++
		}
		if n != want {
			t.Errorf("%q has %d, want %d", owner, n, want)
		}
	}
}

func deletion(t *testing.T, s Store) {
	c, other := create(t, s, made("ada", now)), create(t, s, made("ada", now))
	for range 2 {
		if err := s.DeleteCron(t.Context(), c.ID); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Cron(t.Context(), c.ID); !errors.Is(err, cron.ErrNotFound) {
		t.Errorf("got %v, want %v", err, cron.ErrNotFound)
	}
	if err := s.SaveCron(t.Context(), &c); !errors.Is(err, cron.ErrConflict) {
		t.Errorf("saved again: got %v, want %v", err, cron.ErrConflict)
	}
	same(t, s, other)
}

func unavailable(t *testing.T, s Store) {
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, read := s.Cron(t.Context(), uuid.NewString())
	_, listed := s.DueCrons(t.Context(), now, 1)
	for name, err := range map[string]error{"CreateCron": s.CreateCron(t.Context(), made("ada", now), most), "Cron": read, "DueCrons": listed} {
		if !errors.Is(err, agents.ErrUnavailable) {
			t.Errorf("%s of a closed store: got %v, want %v", name, err, agents.ErrUnavailable)
		}
	}
}
