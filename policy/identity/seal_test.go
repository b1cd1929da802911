package identity_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

// The refresh token of a session is worth a password: it is nowhere on disk in clear.
func TestUpstreamIsEncrypted(t *testing.T) {
	dir := t.TempDir()
	db, key := filepath.Join(dir, "identity.db"), filepath.Join(dir, "keys", "identity.key")
	upstream := identity.Upstream{
		Issuer: issuer, Subject: "1", SID: "s", Refresh: "very-secret-refresh", IDToken: "very-secret-hint",
		Due: time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond),
	}
	open := func(r *rig) string {
		session, _, err := r.Login(t.Context(), identity.NewSession{
			Principal: r.admit(t, oidcUser("bob", "1")), Kind: identity.WebSession, Lifetime: time.Hour, Upstream: &upstream,
		})
		if err != nil {
			t.Fatal(err)
		}
		return session.ID
	}
	r := newRigAt(t, db, identity.WithKey(key))
	if _, err := os.Stat(key); err == nil {
		t.Error("the key was made before its first use")
	}
	first, other := open(r), open(r)
	again := newRigAt(t, db, identity.WithKey(key))
	for _, id := range []string{first, other} {
		got, err := again.Upstream(t.Context(), id)
		if d := cmp.Diff(upstream, got); err != nil || d != "" || got.Refresh != upstream.Refresh || got.IDToken != upstream.IDToken {
			t.Errorf("%v (-want +got):\n%s", err, d)
		}
	}
	info, err := os.Stat(key)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got mode %v, %v; want 0600", info.Mode(), err)
	}
	files, err := filepath.Glob(db + "*")
	if err != nil || len(files) == 0 {
		t.Fatalf("got %v, %v", files, err)
	}
	for _, f := range files {
		doc, err := os.ReadFile(f)
		if err != nil || bytes.Contains(doc, []byte("very-secret")) {
			t.Errorf("%s: a secret is in it (%v)", f, err)
		}
	}
	if got, err := again.Upstream(t.Context(), "nothing"); !errors.Is(err, identity.ErrSessionNotFound) {
		t.Errorf("got %+v, %v; want ErrSessionNotFound", got, err)
	}
	c, err := r.store.SessionByID(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	moved := c.Session
	moved.ID = other
	if _, err := r.store.RenewSession(t.Context(), moved); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Upstream(t.Context(), other); err == nil {
		t.Errorf("the secrets of another session: got %+v", got)
	}
	if err := os.WriteFile(key, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := newRigAt(t, db, identity.WithKey(key)).Upstream(t.Context(), first); err == nil || !strings.Contains(err.Error(), key) {
		t.Errorf("cut off key file: got %v, want an error with its path", err)
	}
}

// With another key a session cannot be renewed any more: it ends, and says why.
func TestLostKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "identity.db")
		_, secret := newRigAt(t, path).openOIDC(t, "bob", "1", "")
		r := newRigAt(t, path)
		r.SetSources(nil, newProvider())
		r.verify(t, secret)
		time.Sleep(5 * time.Minute)
		if _, err := r.Verify(t.Context(), secret); !errors.Is(err, policy.ErrRevoked) || !strings.Contains(err.Error(), "key file") {
			t.Errorf("got %v, want ErrRevoked that names the key", err)
		}
	})
}
