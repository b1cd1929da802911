package items_test

import (
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/items"
	"github.com/svc-gateway/svc/agents/state"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/audit/audittest"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/scanner/redact"
)

var (
	ada  = policy.Principal{User: "ada", Role: policy.User}
	bob  = policy.Principal{User: "bob", Role: policy.Readonly}
	root = policy.Principal{User: "root", Role: policy.Admin}
)

// fixture is a keeper on a real store, with a clock that the test moves.
type fixture struct {
	*items.Keeper
	log *audit.Log
	now time.Time
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	s, err := state.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	f := &fixture{log: audittest.Open(t, filepath.Join(t.TempDir(), "audit.db")), now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	f.Keeper = items.New(items.Config{Store: s, Audit: f.log, Log: zap.NewNop(), Secrets: new(redact.Secrets), Now: func() time.Time { return f.now }})
	return f
}

// foreign counts the records of somebody asking for what is another's.
func (f *fixture) foreign(t *testing.T) int {
	t.Helper()
	return len(audittest.Events(t, f.log, audit.Filter{}, audit.PermissionDenied))
}
