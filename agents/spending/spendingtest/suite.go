// Package spendingtest holds every store of what was spent to its contract:
//
//	func TestSpending(t *testing.T) { spendingtest.Run(t, func(t *testing.T) spending.Store { … }) }
package spendingtest

import (
	"errors"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents/spending"
)

// Run runs the suite on stores that open makes, each empty.
func Run(t *testing.T, open func(t *testing.T) spending.Store) {
	for name, test := range map[string]func(*testing.T, spending.Store){
		"days and users":            daysAndUsers,
		"nothing is added beyond":   bounds,
		"side by side":              sideBySide,
		"no less than nothing left": floor,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func daysAndUsers(t *testing.T, s spending.Store) {
	spend(t, s, "2026-03-01", "ada", spending.Used{Tokens: 100, Calls: 1})
	spend(t, s, "2026-03-01", "ada", spending.Used{Tokens: -30})
	spend(t, s, "2026-03-01", "bob", spending.Used{Tokens: 5, Calls: 2})
	spend(t, s, "2026-03-02", "ada", spending.Used{Tokens: 7, Calls: 1})
	want(t, s, "2026-03-01", "ada", spending.Used{Tokens: 70, Calls: 1}, spending.Used{Tokens: 75, Calls: 3})
	want(t, s, "2026-03-01", "eve", spending.Used{}, spending.Used{Tokens: 75, Calls: 3})
	want(t, s, "2026-03-02", "ada", spending.Used{Tokens: 7, Calls: 1}, spending.Used{Tokens: 7, Calls: 1})
	want(t, s, "2026-03-03", "ada", spending.Used{}, spending.Used{})
}

func bounds(t *testing.T, s spending.Store) {
	const day = "2026-03-01"
	spend(t, s, day, "ada", spending.Used{Tokens: 90, Calls: 9})
	for _, tt := range []struct {
		name string
		user string
		most spending.Most
		over *spending.Over
	}{
		{"tokens of a user", "ada", spending.Most{User: spending.Used{Tokens: 99}}, &spending.Over{Tokens: true, Used: 100, Most: 99}},
		{"turns of a user", "ada", spending.Most{User: spending.Used{Calls: 9}}, &spending.Over{Used: 10, Most: 9}},
		{"tokens of all", "bob", spending.Most{All: spending.Used{Tokens: 99}}, &spending.Over{All: true, Tokens: true, Used: 100, Most: 99}},
		{"turns of all", "bob", spending.Most{All: spending.Used{Calls: 9}}, &spending.Over{All: true, Used: 10, Most: 9}},
	} {
		err := s.Spend(t.Context(), day, tt.user, spending.Used{Tokens: 10, Calls: 1}, tt.most)
		got, ok := errors.AsType[*spending.Over](err)
		if !ok || !cmp.Equal(tt.over, got) {
			t.Errorf("%s: got %v, want %+v", tt.name, err, tt.over)
		}
	}
	want(t, s, day, "ada", spending.Used{Tokens: 90, Calls: 9}, spending.Used{Tokens: 90, Calls: 9})
	want(t, s, day, "bob", spending.Used{}, spending.Used{Tokens: 90, Calls: 9})
	if err := s.Spend(t.Context(), day, "ada", spending.Used{Tokens: 10, Calls: 1}, spending.Most{User: spending.Used{Tokens: 100, Calls: 10}}); err != nil {
		t.Errorf("just as much as there is: %v", err)
	}
}

func sideBySide(t *testing.T, s spending.Store) {
	var all sync.WaitGroup
	results := make(chan error, 40)
	for range cap(results) {
		all.Go(func() {
			results <- s.Spend(t.Context(), "2026-03-01", "ada", spending.Used{Tokens: 3, Calls: 1}, spending.Most{User: spending.Used{Tokens: 30}})
		})
	}
	all.Wait()
	close(results)
	n := 0
	for err := range results {
		if err == nil {
			n++
		}
	}
	if n != 10 {
		t.Errorf("%d were allowed, want 10", n)
	}
	want(t, s, "2026-03-01", "ada", spending.Used{Tokens: 30, Calls: 10}, spending.Used{Tokens: 30, Calls: 10})
}

func floor(t *testing.T, s spending.Store) {
	spend(t, s, "2026-03-01", "ada", spending.Used{Tokens: 5})
	spend(t, s, "2026-03-01", "ada", spending.Used{Tokens: -50})
	want(t, s, "2026-03-01", "ada", spending.Used{}, spending.Used{})
}

func spend(t *testing.T, s spending.Store, day, user string, u spending.Used) {
	t.Helper()
	if err := s.Spend(t.Context(), day, user, u, spending.Most{}); err != nil {
		t.Fatal(err)
	}
}

func want(t *testing.T, s spending.Store, day, user string, own, all spending.Used) {
	t.Helper()
	gotOwn, gotAll, err := s.Spent(t.Context(), day, user)
	if err != nil || gotOwn != own || gotAll != all {
		t.Errorf("%s on %s: got %+v and %+v, %v, want %+v and %+v", user, day, gotOwn, gotAll, err, own, all)
	}
}
