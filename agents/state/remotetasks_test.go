package state_test

import (
	"path/filepath"
	"testing"

	"github.com/svc-gateway/svc/agents/remote/remotetest"
	"github.com/svc-gateway/svc/agents/state"
)

func TestRemoteTasksConformance(t *testing.T) {
	remotetest.Conformance(t, func(t *testing.T) remotetest.Store {
		s, err := state.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	})
}
