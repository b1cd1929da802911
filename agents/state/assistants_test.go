package state_test

import (
	"path/filepath"
	"testing"

	"github.com/svc-gateway/svc/agents/assistant/assistanttest"
	"github.com/svc-gateway/svc/agents/state"
)

func TestAssistantsConformance(t *testing.T) {
	assistanttest.Conformance(t, func(t *testing.T) assistanttest.Store {
		s, err := state.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	})
}
