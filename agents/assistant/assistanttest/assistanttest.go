// Package assistanttest is what every implementation of [assistant.Store] must pass.
//
// Call [Conformance] from the implementation's own tests. It is not safe to share one store between two
// calls.
package assistanttest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/assistant"
)

// Store is what the suite tests; it is closed by one of the tests.
type Store interface {
	assistant.Store
	Close() error
}

// Conformance runs the suite; open gives each test an empty store.
func Conformance(t *testing.T, open func(t *testing.T) Store) {
	t.Helper()
	for _, tc := range []struct {
		name string
		run  func(t *testing.T, s Store)
	}{
		{"an assistant is read back as it was created", roundTrip},
		{"an id is taken once", taken},
		{"how many a user has is bounded", bounded},
		{"versions are numbered, kept and made present again", versions},
		{"of many changes of one version one counts", contention},
		{"assistants are listed by owner", listing},
		{"a deleted assistant is gone with its versions", deletion},
		{"a store that cannot be used says so", unavailable},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.run(t, open(t)) })
	}
}

var now = time.Date(2026, 3, 1, 12, 0, 0, 5e6, time.UTC)

const most = 100

func made(owner, name string) assistant.Assistant {
	return assistant.Assistant{
		ID: uuid.NewString(), Owner: owner, Graph: "core", Name: name, Description: strings.Repeat("long ", 200), Version: 1, Created: now, Updated: now,
		Config: map[string]any{"recursion_limit": float64(7)}, Context: map[string]any{"a": "b"}, Metadata: map[string]any{"team": "x"},
	}
}

func create(t *testing.T, s assistant.Store, a assistant.Assistant) assistant.Assistant {
	t.Helper()
	if err := s.CreateAssistant(t.Context(), a, most); err != nil {
		t.Fatalf("CreateAssistant: %v", err)
	}
	return a
}

func same(t *testing.T, s assistant.Store, want assistant.Assistant) {
	t.Helper()
	got, err := s.Assistant(t.Context(), want.ID)
	if err != nil {
		t.Fatalf("Assistant: %v", err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func roundTrip(t *testing.T, s Store) { same(t, s, create(t, s, made("ada", "a"))) }

func taken(t *testing.T, s Store) {
	a := create(t, s, made("ada", "a"))
	b := made("bob", "b")
	b.ID = a.ID
	if err := s.CreateAssistant(t.Context(), b, most); !errors.Is(err, assistant.ErrExists) {
		t.Errorf("got %v, want %v", err, assistant.ErrExists)
	}
	same(t, s, a)
}

func bounded(t *testing.T, s Store) {
	var wg sync.WaitGroup
	errs := make([]error, 10)
	for n := range errs {
		wg.Go(func() { errs[n] = s.CreateAssistant(t.Context(), made("ada", fmt.Sprint(n)), 3) })
	}
	wg.Wait()
	kept := 0
	for _, err := range errs {
		if err == nil {
			kept++
		} else if !errors.Is(err, assistant.ErrFull) {
			t.Errorf("got %v, want %v", err, assistant.ErrFull)
		}
	}
	if kept != 3 {
		t.Errorf("%d were kept, want 3", kept)
	}
}

func versions(t *testing.T, s Store) {
	first := create(t, s, made("ada", "first"))
	second := first
	second.Name, second.Updated = "second", now.Add(time.Second)
	kept, changed, err := s.AddVersion(t.Context(), second, most)
	if err != nil || !changed || kept.Version != 2 {
		t.Fatalf("got version %d, %v, %v, want 2", kept.Version, changed, err)
	}
	second.Version = 2
	same(t, s, second)
	if _, changed, err := s.AddVersion(t.Context(), first, most); changed || err != nil {
		t.Errorf("a change of a version that is not present: %v, %v", changed, err)
	}
	back, err := s.SetVersion(t.Context(), first.ID, 1)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, back); diff != "" {
		t.Errorf("back at the first (-want +got):\n%s", diff)
	}
	third := first
	third.Name = "third"
	if kept, changed, err := s.AddVersion(t.Context(), third, most); err != nil || !changed || kept.Version != 3 {
		t.Errorf("got version %d, %v, %v, want 3", kept.Version, changed, err)
	}
	all, err := s.AssistantVersions(t.Context(), first.ID)
	var names []string
	for _, a := range all {
		names = append(names, fmt.Sprintf("%d %s %s", a.Version, a.Name, a.Owner))
	}
	if diff := cmp.Diff([]string{"3 third ada", "2 second ada", "1 first ada"}, names); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := s.SetVersion(t.Context(), first.ID, 4); !errors.Is(err, assistant.ErrVersionNotFound) {
		t.Errorf("a version that there is not: %v", err)
	}
	third.Version = 3
	if _, _, err := s.AddVersion(t.Context(), third, 3); !errors.Is(err, assistant.ErrFull) {
		t.Errorf("more versions than allowed: %v", err)
	}
	same(t, s, third)
}

func contention(t *testing.T, s Store) {
	a := create(t, s, made("ada", "a"))
	var wg sync.WaitGroup
	var mu sync.Mutex
	won := 0
	for range 10 {
		wg.Go(func() {
			_, changed, err := s.AddVersion(t.Context(), a, most)
			if err != nil {
				t.Errorf("AddVersion: %v", err)
			}
			mu.Lock()
			defer mu.Unlock()
			if changed {
				won++
			}
		})
	}
	wg.Wait()
	if won != 1 {
		t.Errorf("%d changes counted, want one", won)
	}
}

func listing(t *testing.T, s Store) {
	create(t, s, made("ada", "a"))
	create(t, s, made("ada", "b"))
	create(t, s, made("bob", "c"))
	for owner, want := range map[string]int{"ada": 2, "bob": 1, "eve": 0, "": 3} {
		n := 0
		for a, err := range s.Assistants(t.Context(), owner) {
			if err != nil {
				t.Fatal(err)
			}
			if owner != "" && a.Owner != owner {
				t.Errorf("%s is listed as %s's", a.Name, owner)
			}
			n++
		}
		if n != want {
			t.Errorf("%q has %d, want %d", owner, n, want)
		}
	}
}

func deletion(t *testing.T, s Store) {
	a := create(t, s, made("ada", "a"))
	other := create(t, s, made("ada", "b"))
	for range 2 {
		if err := s.DeleteAssistant(t.Context(), a.ID); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Assistant(t.Context(), a.ID); !errors.Is(err, assistant.ErrNotFound) {
		t.Errorf("got %v, want %v", err, assistant.ErrNotFound)
	}
	if all, err := s.AssistantVersions(t.Context(), a.ID); err != nil || len(all) != 0 {
		t.Errorf("its versions: %v, %v", all, err)
	}
	if _, err := s.SetVersion(t.Context(), a.ID, 1); !errors.Is(err, assistant.ErrVersionNotFound) {
		t.Errorf("its first version: %v", err)
	}
	same(t, s, other)
	create(t, s, a) // the id is free again
}

func unavailable(t *testing.T, s Store) {
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	a := made("ada", "a")
	_, read := s.Assistant(t.Context(), a.ID)
	for name, err := range map[string]error{"CreateAssistant": s.CreateAssistant(t.Context(), a, most), "Assistant": read} {
		if !errors.Is(err, agents.ErrUnavailable) {
			t.Errorf("%s of a closed store: got %v, want %v", name, err, agents.ErrUnavailable)
		}
	}
}
