package audittest

import (
	"testing"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/audit/sqlite"
)

// Node is the machine in the records of [Open].
const Node = "node"

// Open opens a log on the embedded store at path, and closes it with the test.
func Open(tb testing.TB, path string) *audit.Log {
	tb.Helper()
	store, err := sqlite.Open(tb.Context(), path)
	if err != nil {
		tb.Fatal(err)
	}
	log := audit.New(store, Node)
	tb.Cleanup(func() {
		if err := log.Close(); err != nil {
			tb.Error(err)
		}
	})
	return log
}
