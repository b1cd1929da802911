package state_test

import (
	"path/filepath"
	"testing"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/state"
	"github.com/svc-gateway/svc/agents/statetest"
)

func TestConformance(t *testing.T) {
	statetest.Conformance(t, func(t *testing.T) agents.Store {
		s, err := state.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Errorf("closing: %v", err)
			}
		})
		return s
	})
}
