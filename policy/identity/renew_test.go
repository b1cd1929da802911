package identity_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

const issuer = "https://idp.example"

// provider is a Renewer whose refresh tokens are rotated: one that was used is worth nothing.
type provider struct {
	mu      sync.Mutex
	role    policy.Role
	subject string
	err     error
	delay   time.Duration
	asked   int
	refresh identity.Secret // the one that is good
}

func newProvider() *provider {
	return &provider{role: policy.User, subject: "1", refresh: "r0"}
}

func (p *provider) Renew(ctx context.Context, u identity.Upstream) (identity.External, identity.Upstream, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked++
	select {
	case <-time.After(p.delay):
	case <-ctx.Done():
		return identity.External{}, identity.Upstream{}, ctx.Err()
	}
	if p.err != nil {
		return identity.External{}, identity.Upstream{}, p.err
	}
	if u.Refresh != p.refresh {
		return identity.External{}, identity.Upstream{}, fmt.Errorf("refresh token %q was used before: %w", u.Refresh.Reveal(), policy.ErrRevoked)
	}
	p.refresh = identity.Secret(fmt.Sprintf("r%d", p.asked))
	u.Refresh, u.Due = p.refresh, time.Now().Add(5*time.Minute)
	return identity.External{Source: policy.SourceOIDC, Issuer: issuer, Subject: p.subject, Role: p.role, Groups: []string{"g"}}, u, nil
}

func (p *provider) say(role policy.Role, subject string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.role, p.subject, p.err = role, subject, err
}

func (p *provider) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked
}

func oidcUser(name, subject string) identity.External {
	return identity.External{Source: policy.SourceOIDC, Issuer: issuer, Subject: subject, Name: name, Role: policy.User}
}

// openOIDC opens a session that is due in five minutes and returns its secret.
func (r *rig) openOIDC(t testing.TB, name, subject, sid string) (identity.Session, string) {
	t.Helper()
	session, secret, err := r.Login(t.Context(), identity.NewSession{
		Principal: r.admit(t, oidcUser(name, subject)), Kind: identity.APISession, Lifetime: 24 * time.Hour,
		Upstream: &identity.Upstream{
			Issuer: issuer, Subject: subject, SID: sid, Refresh: "r0", IDToken: "id", Due: time.Now().Add(5 * time.Minute),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return session, secret.Reveal()
}

func TestRenew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, p := newRig(t), newProvider()
		session, secret := r.openOIDC(t, "bob", "1", "s")
		if _, err := r.Verify(t.Context(), secret); err == nil || errors.Is(err, policy.ErrRevoked) {
			t.Errorf("before the sources are known: got %v, want a technical error", err)
		}
		r.SetSources(nil, p)
		first := r.verify(t, secret)
		time.Sleep(5*time.Minute - time.Nanosecond)
		r.verify(t, secret)
		if n := p.count(); n != 0 {
			t.Errorf("asked %d times before it was due", n)
		}
		time.Sleep(time.Nanosecond)
		revision, _ := r.store.Revision(t.Context())
		for range 3 {
			r.verify(t, secret)
			if _, err := r.Resolve(t.Context(), first); err != nil {
				t.Fatal(err)
			}
		}
		if n := p.count(); n != 1 {
			t.Errorf("asked %d times, want once", n)
		}
		if now, _ := r.store.Revision(t.Context()); now != revision+1 { // the groups are others
			t.Errorf("got revision %d, want %d", now, revision+1)
		}
		time.Sleep(5 * time.Minute)
		r.verify(t, secret)
		if now, _ := r.store.Revision(t.Context()); now != revision+1 || p.count() != 2 {
			t.Errorf("got revision %d after asking %d times; want %d after 2: nothing changed", now, p.count(), revision+1)
		}
		p.say(policy.Readonly, "1", nil)
		time.Sleep(5 * time.Minute)
		if got, err := r.Resolve(t.Context(), first); err != nil || got.Role != policy.Readonly || got.Groups[0] != "g" {
			t.Errorf("got %+v, %v; want the new role", got, err)
		}
		if got := r.verify(t, secret); got.Role != policy.Readonly {
			t.Errorf("got %+v, want the new role", got)
		}
		u, err := r.Upstream(t.Context(), session.ID)
		if err != nil || u.Refresh != "r3" || u.IDToken != "id" || u.SID != "s" {
			t.Errorf("got %+v (%s), %v; want the last refresh token", u, u.Refresh.Reveal(), err)
		}
	})
}

func TestRenewalRefused(t *testing.T) {
	for name, say := range map[string]func(*provider){
		"revoked":         func(p *provider) { p.say("", "", fmt.Errorf("invalid_grant: %w", policy.ErrRevoked)) },
		"no role":         func(p *provider) { p.say("", "1", nil) },
		"no role, said":   func(p *provider) { p.say("", "", identity.ErrNoRole) },
		"another subject": func(p *provider) { p.say(policy.Admin, "2", nil) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, p := newRig(t), newProvider()
				r.SetSources(nil, p)
				_, secret := r.openOIDC(t, "bob", "1", "")
				say(p)
				time.Sleep(5 * time.Minute)
				for range 2 {
					if _, err := r.Verify(t.Context(), secret); !errors.Is(err, policy.ErrRevoked) {
						t.Errorf("got %v, want ErrRevoked", err)
					}
				}
				if p.count() != 1 {
					t.Errorf("asked %d times, want once", p.count())
				}
				e := r.log.recorded[len(r.log.recorded)-1]
				if e.Type != audit.Logout || e.Action != "renewal-refused" || e.User != "bob" || !strings.Contains(e.Input, "ended_sessions") {
					t.Errorf("got record %+v", e)
				}
			})
		})
	}
}

// A provider that is down holds up one request now and then, and after a grace the session.
func TestProviderDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, p := newRig(t), newProvider()
		r.SetSources(nil, p)
		_, secret := r.openOIDC(t, "bob", "1", "")
		p.say(policy.User, "1", errors.New("connection refused"))
		p.delay = time.Second
		time.Sleep(5 * time.Minute)
		var wg sync.WaitGroup
		start := time.Now()
		for range 20 {
			wg.Go(func() {
				r.verify(t, secret)
			})
		}
		wg.Wait()
		r.verify(t, secret)
		if took := time.Since(start); p.count() != 1 || took != time.Second {
			t.Errorf("asked %d times, which took %s; want one that waits", p.count(), took)
		}
		time.Sleep(15 * time.Second)
		r.verify(t, secret)
		if p.count() != 2 {
			t.Errorf("asked %d times, want again after a pause", p.count())
		}
		time.Sleep(10 * time.Minute)
		for range 2 {
			if _, err := r.Verify(t.Context(), secret); err == nil || errors.Is(err, policy.ErrRevoked) || errors.Is(err, policy.ErrExpired) {
				t.Errorf("after the grace: got %v, want a technical error", err)
			}
		}
		p.say(policy.User, "1", nil)
		time.Sleep(15 * time.Second)
		r.verify(t, secret) // it heals by itself
	})
}

// A page that was left open asks for many things at once: all wait for the one renewal, also when
// it was due long ago.
func TestIdleSessionIsRenewedForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, p := newRig(t), newProvider()
		r.SetSources(nil, p)
		_, secret := r.openOIDC(t, "bob", "1", "")
		p.delay = time.Second
		time.Sleep(8 * time.Hour)
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() { r.verify(t, secret) })
		}
		wg.Wait()
		if p.count() != 1 {
			t.Errorf("asked %d times, want once", p.count())
		}
	})
}

// The one who asks goes away meanwhile: the provider has taken the refresh token back, so the
// new one must not get lost.
func TestRenewalOutlivesItsRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, p := newRig(t), newProvider()
		r.SetSources(nil, p)
		_, secret := r.openOIDC(t, "bob", "1", "")
		p.delay = time.Second
		time.Sleep(5 * time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := r.Verify(ctx, secret); err != nil {
			t.Error(err)
		}
		time.Sleep(5 * time.Minute)
		r.verify(t, secret)
		if p.count() != 2 {
			t.Errorf("asked %d times, want 2", p.count())
		}
	})
}

// A session that ends while it is renewed stays ended.
func TestLogoutWhileRenewing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, p := newRig(t), newProvider()
		r.SetSources(nil, p)
		session, secret := r.openOIDC(t, "bob", "1", "")
		p.delay = time.Second
		time.Sleep(5 * time.Minute)
		done := make(chan error)
		go func() {
			_, err := r.Verify(t.Context(), secret)
			done <- err
		}()
		synctest.Wait()
		if _, err := r.Logout(t.Context(), boss, "bob", session.ID); err != nil {
			t.Fatal(err)
		}
		if err := <-done; !errors.Is(err, policy.ErrRevoked) {
			t.Errorf("got %v, want ErrRevoked", err)
		}
		if _, err := r.Verify(t.Context(), secret); !errors.Is(err, policy.ErrRevoked) {
			t.Errorf("afterwards: got %v, want ErrRevoked", err)
		}
	})
}

// Two nodes with one database each have their own idea of when it is due: the refresh token is
// used once all the same.
func TestRenewalOnTwoNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "identity.db")
		key := identity.WithKey(filepath.Join(t.TempDir(), "keys", "identity.key"))
		p := newProvider()
		here, there := newRigAt(t, path, key), newRigAt(t, path, key)
		here.SetSources(nil, p)
		there.SetSources(nil, p)
		_, secret := here.openOIDC(t, "bob", "1", "")
		here.verify(t, secret)
		there.verify(t, secret)
		for range 3 {
			time.Sleep(5 * time.Minute)
			here.verify(t, secret)
			there.verify(t, secret)
		}
		if p.count() != 3 {
			t.Errorf("asked %d times, want 3", p.count())
		}
	})
}

func TestLogoutUpstream(t *testing.T) {
	for name, tt := range map[string]struct {
		subject, sid string
		ended        int
		left         []string // names of sid
		token        error    // what becomes of a bearer token from before
	}{
		"a session":             {"", "s1", 1, []string{"s2", "s3"}, nil},
		"a session, of whom":    {"1", "s1", 1, []string{"s2", "s3"}, nil},
		"all of a subject":      {"1", "", 2, []string{"s3"}, policy.ErrRevoked},
		"unknown session":       {"1", "s9", 0, []string{"s1", "s2", "s3"}, nil},
		"session of another":    {"2", "s1", 0, []string{"s1", "s2", "s3"}, nil},
		"subject without an id": {"9", "", 0, []string{"s1", "s2", "s3"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.SetSources(nil, newProvider())
			bearer := oidcUser("bob", "1")
			bearer.Issued = time.Now().Add(-time.Second)
			r.admit(t, bearer)
			secrets := map[string]string{}
			for sid, subject := range map[string]string{"s1": "1", "s2": "1", "s3": "2"} {
				_, secrets[sid] = r.openOIDC(t, "u"+subject, subject, sid)
			}
			for other, err := range map[string]error{
				"another issuer": second(r.LogoutUpstream(t.Context(), "https://other", tt.subject, tt.sid)),
			} {
				if err != nil {
					t.Errorf("%s: %v", other, err)
				}
			}
			n, err := r.LogoutUpstream(t.Context(), issuer, tt.subject, tt.sid)
			if err != nil || n != tt.ended {
				t.Errorf("got %d, %v; want %d", n, err, tt.ended)
			}
			for _, sid := range tt.left {
				r.verify(t, secrets[sid])
				delete(secrets, sid)
			}
			for sid, secret := range secrets {
				if _, err := r.Verify(t.Context(), secret); !errors.Is(err, policy.ErrRevoked) {
					t.Errorf("%s: got %v, want ErrRevoked", sid, err)
				}
			}
			if _, err := r.Admit(t.Context(), bearer); !errors.Is(err, tt.token) {
				t.Errorf("bearer token: got %v, want %v", err, tt.token)
			}
		})
	}
	r := newRig(t)
	for _, args := range [][3]string{{"", "1", "s"}, {issuer, "", ""}} {
		if _, err := r.LogoutUpstream(t.Context(), args[0], args[1], args[2]); !errors.Is(err, identity.ErrInvalid) {
			t.Errorf("%q: got %v, want ErrInvalid", args, err)
		}
	}
}

func second(_ int, err error) error { return err }
