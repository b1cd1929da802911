package state_test

import (
	"path/filepath"
	"testing"

	"github.com/svc-gateway/svc/agents/spending"
	"github.com/svc-gateway/svc/agents/spending/spendingtest"
	"github.com/svc-gateway/svc/agents/state"
)

func openForSpending(t *testing.T, path string) *state.Store {
	t.Helper()
	s, err := state.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestSpending(t *testing.T) {
	spendingtest.Run(t, func(t *testing.T) spending.Store { return openForSpending(t, filepath.Join(t.TempDir(), "state.db")) })
}

// What was spent is known after a restart, to another process too, and forgotten after some days.
func TestSpendingStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	first, second := openForSpending(t, path), openForSpending(t, path)
	for day, s := range map[string]*state.Store{"2026-03-01": first, "2026-03-05": second} {
		if err := s.Spend(t.Context(), day, "ada", spending.Used{Tokens: 5, Calls: 1}, spending.Most{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	look := func(day string, want int64) {
		t.Helper()
		if own, _, err := second.Spent(t.Context(), day, "ada"); err != nil || own.Tokens != want {
			t.Errorf("%s: got %+v, %v, want %d tokens", day, own, err, want)
		}
	}
	look("2026-03-01", 5)
	if err := second.Spend(t.Context(), "2026-03-09", "ada", spending.Used{Calls: 1}, spending.Most{}); err != nil {
		t.Fatal(err)
	}
	look("2026-03-01", 0)
	look("2026-03-05", 5)
}
