package state_test

import (
	"path/filepath"
	"testing"

	"github.com/svc-gateway/svc/agents/cron/crontest"
	"github.com/svc-gateway/svc/agents/state"
)

func TestCronsConformance(t *testing.T) {
	crontest.Conformance(t, func(t *testing.T) crontest.Store {
		s, err := state.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	})
}
