package identitytest

import (
	"errors"
	"testing"

	"github.com/svc-gateway/svc/internal/bus"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/sqlite"
)

// Open opens a service on the embedded store at path, and closes it with the test.
func Open(tb testing.TB, path string, log identity.Recorder, b bus.Bus, options ...identity.Option) *identity.Service {
	tb.Helper()
	store, err := sqlite.Open(tb.Context(), path)
	if err != nil {
		tb.Fatal(err)
	}
	s, err := identity.New(tb.Context(), store, log, b, options...)
	if err != nil {
		tb.Fatal(errors.Join(err, store.Close()))
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}
