package state_test

import (
	"path/filepath"
	"testing"

	"github.com/svc-gateway/svc/agents/items/itemstest"
	"github.com/svc-gateway/svc/agents/state"
)

func TestItemsConformance(t *testing.T) {
	itemstest.Conformance(t, func(t *testing.T) itemstest.Store {
		s, err := state.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	})
}
