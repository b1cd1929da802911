package identity_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/identitytest"
)

func TestSQLite(t *testing.T) {
	identitytest.Conformance(t, func(t *testing.T) identity.Store {
		return openStore(t, filepath.Join(t.TempDir(), "identity.db"))
	})
}

func openStore(t testing.TB, path string) identity.Store {
	t.Helper()
	s, err := identity.OpenStore(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// What was acknowledged is there for another process, and after a restart.
func TestSQLiteIsSharedAndKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "identity.db")
	first, second := openStore(t, path), openStore(t, path)
	now := time.Now().UTC().Truncate(time.Microsecond)
	for i, s := range []identity.Store{first, second} {
		if _, err := s.Apply(t.Context(), identity.Change{
			Revision: int64(i),
			Users:    []identity.User{{Name: string(rune('a' + i)), Role: policy.Admin, Created: now}},
		}); err != nil {
			t.Fatal(err)
		}
	}
	want := []identity.Account{
		{User: identity.User{Name: "a", Role: policy.Admin, Created: now}, Tokens: []identity.Token{}},
		{User: identity.User{Name: "b", Role: policy.Admin, Created: now}, Tokens: []identity.Token{}},
	}
	for _, s := range []identity.Store{first, second, openStore(t, path)} {
		got, revision, err := s.Accounts(t.Context(), identity.Filter{})
		if d := cmp.Diff(want, got); err != nil || revision != 2 || d != "" {
			t.Errorf("revision %d, %v (-want +got):\n%s", revision, err, d)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got mode %v, %v; want 0600", info.Mode(), err)
	}
}
