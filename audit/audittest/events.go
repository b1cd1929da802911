package audittest

import (
	"slices"
	"testing"

	"github.com/svc-gateway/svc/audit"
)

// Events are the records of a log that match, also the ones that nobody waited for; of the types alone,
// when there are any.
func Events(tb testing.TB, log *audit.Log, f audit.Filter, types ...string) (list []audit.Event) {
	tb.Helper()
	if err := log.Flush(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	all, err := log.Events(tb.Context(), f)
	if err != nil {
		tb.Fatal(err)
	}
	for _, e := range all {
		if len(types) == 0 || slices.Contains(types, e.Type) {
			list = append(list, e)
		}
	}
	return list
}
