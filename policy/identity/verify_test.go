package identity_test

import (
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

func TestVerify(t *testing.T) {
	r := newRig(t)
	end := time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
	token := r.addUser(t, identity.AddUser{Name: "bob", Role: policy.User, Expires: end})
	for range 2 { // loaded, then cached
		got := r.verify(t, token)
		want := policy.Principal{User: "bob", Role: policy.User, Source: policy.SourceToken, TokenID: got.TokenID, Expires: end}
		if d := cmp.Diff(want, got); d != "" || got.TokenID == "" || strings.Contains(token, got.TokenID) {
			t.Errorf("token id %q (-want +got):\n%s", got.TokenID, d)
		}
	}
}

func TestVerifyRefuses(t *testing.T) {
	r := newRig(t)
	token := r.addUser(t, identity.AddUser{Name: "bob", Role: policy.User})
	other := newRig(t).addUser(t, identity.AddUser{Name: "bob", Role: policy.User})
	for name, tt := range map[string]struct {
		token string
		want  error
	}{
		"empty":             {"", identity.ErrMalformed},
		"prefix":            {"svc_", identity.ErrMalformed},
		"cut off":           {token[:len(token)-1], identity.ErrMalformed},
		"too long":          {token + "0", identity.ErrMalformed},
		"mistyped":          {mistype(token), identity.ErrMalformed},
		"swapped":           {token[:10] + token[11:12] + token[10:11] + token[12:], identity.ErrMalformed},
		"other prefix":      {"SVC_" + token[4:], identity.ErrMalformed},
		"odd characters":    {token[:52] + "é", identity.ErrMalformed},
		"somebody else's":   {other, identity.ErrUnknown},
		"JSON web token":    {"eyJhbGciOiJSUzI1NiJ9.e30.x", identity.ErrMalformed},
		"a megabyte":        {strings.Repeat("svc_", 1<<18), identity.ErrMalformed},
		"space at its ends": {" " + token, identity.ErrMalformed},
	} {
		if tt.token == token {
			continue // the swapped characters were equal
		}
		if p, err := r.Verify(t.Context(), tt.token); !errors.Is(err, tt.want) || p.User != "" {
			t.Errorf("%s: got %+v, %v; want %v", name, p, err, tt.want)
		}
	}
}

func TestRevokedAndDisabledEndAtOnce(t *testing.T) {
	r := newRig(t)
	yes, no := true, false
	token := r.addUser(t, identity.AddUser{Name: "bob", Role: policy.User})
	p := r.verify(t, token)
	check := func(what string, want error) {
		t.Helper()
		if _, err := r.Verify(t.Context(), token); !errors.Is(err, want) {
			t.Errorf("%s: Verify: got %v, want %v", what, err, want)
		}
		if _, err := r.Resolve(t.Context(), p); !errors.Is(err, want) {
			t.Errorf("%s: Resolve: got %v, want %v", what, err, want)
		}
	}
	check("new", nil)
	if _, err := r.UpdateUser(t.Context(), boss, "bob", identity.UpdateUser{Disabled: &yes}); err != nil {
		t.Fatal(err)
	}
	check("disabled", policy.ErrRevoked)
	if _, err := r.UpdateUser(t.Context(), boss, "bob", identity.UpdateUser{Disabled: &no}); err != nil {
		t.Fatal(err)
	}
	check("enabled again", nil)
	if _, err := r.RevokeToken(t.Context(), boss, "bob", ""); err != nil {
		t.Fatal(err)
	}
	check("revoked", policy.ErrRevoked)
}

func TestRoleChangesAtOnce(t *testing.T) {
	r := newRig(t)
	token := r.addUser(t, identity.AddUser{Name: "bob", Role: policy.User})
	p := r.verify(t, token)
	p.Address = "192.0.2.1"
	for _, role := range []policy.Role{policy.Readonly, policy.Admin, policy.User} {
		r.addUser(t, identity.AddUser{Name: "admin-" + string(role), Role: policy.Admin})
		if _, err := r.UpdateUser(t.Context(), boss, "bob", identity.UpdateUser{Role: &role}); err != nil {
			t.Fatal(err)
		}
		got, err := r.Resolve(t.Context(), p)
		if err != nil || got.Role != role || got.Address != p.Address || got.TokenID != p.TokenID {
			t.Errorf("got %+v, %v; want role %s and the rest as it was", got, err, role)
		}
		if got := r.verify(t, token); got.Role != role {
			t.Errorf("Verify: got role %s, want %s", got.Role, role)
		}
	}
}

func TestExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		token := r.addUser(t, identity.AddUser{Name: "bob", Role: policy.User, Expires: time.Now().Add(time.Hour)})
		p := r.verify(t, token)
		time.Sleep(time.Hour - time.Nanosecond)
		r.verify(t, token)
		time.Sleep(time.Nanosecond)
		if _, err := r.Verify(t.Context(), token); !errors.Is(err, policy.ErrExpired) {
			t.Errorf("Verify: got %v, want ErrExpired", err)
		}
		if _, err := r.Resolve(t.Context(), p); !errors.Is(err, policy.ErrExpired) {
			t.Errorf("Resolve: got %v, want ErrExpired", err)
		}
		later := time.Now().Add(time.Hour)
		if _, err := r.UpdateUser(t.Context(), boss, "bob", identity.UpdateUser{Expires: &later}); err != nil {
			t.Fatal(err)
		}
		r.verify(t, token)
	})
}

// Another node or program changes the database without a word: within a second it is known.
func TestUnannouncedChangeIsSeenWithinASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "identity.db")
		here, there := newRigAt(t, path), newRigAt(t, path)
		token := here.addUser(t, identity.AddUser{Name: "bob", Role: policy.User})
		p := here.verify(t, token)
		there.verify(t, token)
		if _, err := there.RevokeToken(t.Context(), boss, "bob", ""); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if _, err := here.Verify(t.Context(), token); !errors.Is(err, policy.ErrRevoked) {
			t.Errorf("Verify: got %v, want ErrRevoked", err)
		}
		if _, err := here.Resolve(t.Context(), p); !errors.Is(err, policy.ErrRevoked) {
			t.Errorf("Resolve: got %v, want ErrRevoked", err)
		}
	})
}

func TestAnnouncedChangeIsSeenAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "identity.db")
		here, there := newRigAt(t, path), newRigAt(t, path)
		token := here.addUser(t, identity.AddUser{Name: "bob", Role: policy.User})
		here.verify(t, token)
		announced := there.bus.Subscribe(identity.TopicChanges)
		defer announced.Close()
		if _, err := there.RevokeToken(t.Context(), boss, "bob", ""); err != nil {
			t.Fatal(err)
		}
		if err := here.bus.Publish(t.Context(), identity.TopicChanges, <-announced.C()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if _, err := here.Verify(t.Context(), token); !errors.Is(err, policy.ErrRevoked) {
			t.Errorf("got %v, want ErrRevoked", err)
		}
	})
}

func TestUnreadableAnnouncementIsNoHarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		token := r.addUser(t, identity.AddUser{Name: "bob", Role: policy.User})
		for _, message := range []string{"", "x", "-5", "0"} {
			if err := r.bus.Publish(t.Context(), identity.TopicChanges, []byte(message)); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			r.verify(t, token)
		}
	})
}

func TestLastUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "identity.db")
		r := newRigAt(t, path)
		token := r.addUser(t, identity.AddUser{Name: "bob", Role: policy.User})
		lastUsed := func(r *rig) time.Time {
			accounts, err := r.Users(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return accounts[0].Tokens[0].LastUsed
		}
		if got := lastUsed(r); !got.IsZero() {
			t.Errorf("got %s before any use", got)
		}
		first := time.Now().UTC().Truncate(time.Microsecond)
		r.verify(t, token)
		time.Sleep(30 * time.Second)
		r.verify(t, token)
		time.Sleep(time.Second)
		if got := lastUsed(r); !got.Equal(first) {
			t.Errorf("got %s, want %s", got, first)
		}
		time.Sleep(time.Minute)
		last := time.Now().UTC().Truncate(time.Microsecond)
		r.verify(t, token)
		if err := r.Close(); err != nil { // writes what is not written yet
			t.Fatal(err)
		}
		if got := lastUsed(newRigAt(t, path)); !got.Equal(last) {
			t.Errorf("after a restart: got %s, want %s", got, last)
		}
	})
}

// A token is refused from the moment that the revocation returned, whatever else goes on.
func TestConcurrentVerifyAndRevoke(t *testing.T) {
	r := newRig(t)
	var wg sync.WaitGroup
	stop := make(chan struct{})
	keep := r.addUser(t, identity.AddUser{Name: "keep", Role: policy.User})
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := r.Verify(t.Context(), keep); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		token := r.addUser(t, identity.AddUser{Name: name, Role: policy.User})
		begun := make(chan struct{})
		wg.Go(func() {
			for i := 0; ; i++ {
				_, err := r.Verify(t.Context(), token)
				if i == 0 {
					close(begun)
				}
				if err != nil {
					if !errors.Is(err, policy.ErrRevoked) {
						t.Error(err)
					}
					return
				}
			}
		})
		<-begun
		if _, err := r.RevokeToken(t.Context(), boss, name, ""); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Verify(t.Context(), token); !errors.Is(err, policy.ErrRevoked) {
			t.Errorf("got %v right after the revocation, want ErrRevoked", err)
		}
	}
	close(stop)
	wg.Wait()
}
