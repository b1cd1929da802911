package sqlite_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/internal/store"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/identitytest"
	"github.com/svc-gateway/svc/policy/identity/sqlite"
)

func TestConformance(t *testing.T) {
	identitytest.Conformance(t, func(t *testing.T) identity.Store {
		return openStore(t, filepath.Join(t.TempDir(), "identity.db"))
	})
}

func openStore(t testing.TB, path string) identity.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path)
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

// A database of the first version keeps its users and tokens.
func TestFromTheFirstVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "identity.db")
	first, err := os.ReadFile("migrations/0001_identity.sql")
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), path, fstest.MapFS{"0001_identity.sql": {Data: first}}, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	hash := identity.Hash{1, 2, 3}
	err = db.Write(t.Context(), func(tx *store.Tx) error {
		_, user := tx.Exec(`INSERT INTO users (name, role, created) VALUES ('bob', 'admin', '2026-11-21T12:00:00.000000Z')`)
		_, token := tx.Exec(`INSERT INTO tokens (hash, id, user, name, created) VALUES (?, 'b1', 'bob', 'default', '2026-11-21T12:00:00.000000Z')`, hash[:])
		_, revision := tx.Exec(`UPDATE revision SET revision = 7`)
		return errors.Join(user, token, revision)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	want := identity.Credential{
		User:  identity.User{Name: "bob", Role: policy.Admin, Created: at},
		Token: identity.Token{ID: "b1", User: "bob", Name: "default", Created: at}, Revision: 7,
	}
	for range 2 { // migrated, then as it is
		s := openStore(t, path)
		got, err := s.ByHash(t.Context(), hash)
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("%v (-want +got):\n%s", err, d)
		}
		if list, err := s.Sessions(t.Context(), identity.SessionFilter{}, at); err != nil || len(list) != 0 {
			t.Errorf("got sessions %+v, %v", list, err)
		}
	}
}

// What was acknowledged is there for another process, and after a restart.
func TestIsSharedAndKept(t *testing.T) {
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

func TestOpenFails(t *testing.T) {
	if _, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "missing", "identity.db")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v for a folder that is missing", err)
	}
}
