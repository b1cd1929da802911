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

	settings sync.Mutex // of its own: Renew waits with the other one
	removed  bool       // from the settings, where another provider is left
	roles    map[string]policy.Role
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
	return identity.External{Source: policy.SourceOIDC, Issuer: issuer, Subject: p.subject, Role: p.role, Groups: []string{string(p.role), "g"}}, u, nil
}

func (p *provider) say(role policy.Role, subject string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.role, p.subject, p.err = role, subject, err
}

// RoleOf gives the role that the first group is called, unless the settings have another one for it.
func (p *provider) RoleOf(of string, groups []string) policy.Role {
	p.settings.Lock()
	defer p.settings.Unlock()
	if of != issuer || p.removed || len(groups) == 0 {
		return ""
	}
	if role, ok := p.roles[groups[0]]; ok {
		return role
	}
	return policy.Role(groups[0])
}

// set changes the settings.
func (p *provider) set(removed bool, roles map[string]policy.Role) {
	p.settings.Lock()
	defer p.settings.Unlock()
	p.removed, p.roles = removed, roles
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
	x := oidcUser(name, subject)
	x.Groups = []string{string(policy.User)}
	session, secret, err := r.Login(t.Context(), identity.NewSession{
		Principal: r.admit(t, x), Kind: identity.APISession, Lifetime: 24 * time.Hour,
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
		if got, err := r.Resolve(t.Context(), first); err != nil || got.Role != policy.Readonly || got.Groups[1] != "g" {
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

// The attack: the session of a provider that was removed goes on until it is due, as another one is left.
func TestSessionAsTheSettingsSay(t *testing.T) {
	for name, tt := range map[string]struct {
		removed  bool
		of       policy.Role // what the session's group gives now
		want     policy.Role
		down     bool // when it is due, the provider does not answer
		upstream bool
	}{
		"removed":                   {removed: true, upstream: true},
		"removed, due":              {removed: true, down: true, upstream: true},
		"removed, opened by a JWT":  {removed: true},
		"no role":                   {of: "", upstream: true},
		"no role, due":              {of: "", down: true, upstream: true},
		"less":                      {of: policy.Readonly, want: policy.Readonly, upstream: true},
		"less, due":                 {of: policy.Readonly, want: policy.Readonly, down: true, upstream: true},
		"less, opened by a JWT":     {of: policy.Readonly, want: policy.Readonly},
		"the same":                  {of: policy.User, want: policy.User, upstream: true},
		"the same, opened by a JWT": {of: policy.User, want: policy.User},
		"more takes a renewal":      {of: policy.Admin, want: policy.User, upstream: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, p := newRig(t), newProvider()
				r.SetSources(nil, p)
				_, secret := r.openOIDC(t, "bob", "1", "")
				if !tt.upstream {
					x := oidcUser("bob", "1")
					x.Groups = []string{string(policy.User)}
					_, s, err := r.Login(t.Context(), identity.NewSession{Principal: r.admit(t, x), Kind: identity.APISession, Lifetime: time.Hour})
					if err != nil {
						t.Fatal(err)
					}
					secret = s.Reveal()
				}
				before := r.verify(t, secret)
				p.set(tt.removed, map[string]policy.Role{"user": tt.of})
				if tt.down {
					p.say("", "", errors.New("connection refused"))
					time.Sleep(5 * time.Minute)
				}
				for range 2 { // the one that asks, and one while nobody may
					got, err := r.Verify(t.Context(), secret)
					if got.Role != tt.want || errors.Is(err, policy.ErrRevoked) != (tt.want == "") {
						t.Errorf("got role %q, %v; want %q", got.Role, err, tt.want)
					}
					if got, err = r.Resolve(t.Context(), before); got.Role != tt.want || errors.Is(err, policy.ErrRevoked) != (tt.want == "") {
						t.Errorf("an open stream: got role %q, %v; want %q", got.Role, err, tt.want)
					}
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
				"another issuer": second(r.LogoutUpstream(t.Context(), identity.UpstreamLogout{Issuer: "https://other", Subject: tt.subject, SID: tt.sid})),
			} {
				if err != nil {
					t.Errorf("%s: %v", other, err)
				}
			}
			n, err := r.LogoutUpstream(t.Context(), identity.UpstreamLogout{Issuer: issuer, Subject: tt.subject, SID: tt.sid})
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
		if _, err := r.LogoutUpstream(t.Context(), identity.UpstreamLogout{Issuer: args[0], Subject: args[1], SID: args[2]}); !errors.Is(err, identity.ErrInvalid) {
			t.Errorf("%q: got %v, want ErrInvalid", args, err)
		}
	}
}

// The attack: somebody kept a logout message of a provider, and sends it again after the next login.
func TestLogoutUpstreamEndsNothingNewer(t *testing.T) {
	said := time.Now().Add(-time.Hour).Truncate(time.Second)
	for name, tt := range map[string]struct {
		began time.Time // of the session, by the provider's clock
		sid   string
		ends  bool
	}{
		"older":                    {said.Add(-time.Second), "", true},
		"older, by its name":       {said.Add(-time.Second), "s", true},
		"in the same second":       {said.Add(time.Second - 1), "s", true},
		"newer":                    {said.Add(time.Second), "", false},
		"newer, by its name":       {said.Add(time.Second), "s", false},
		"of a time nobody knows":   {time.Time{}, "s", true},
		"by a clock that is ahead": {time.Now().Add(time.Hour), "", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.SetSources(nil, newProvider())
			_, secret := r.openOIDC(t, "bob", "1", "s")
			n, err := r.LogoutUpstream(t.Context(), identity.UpstreamLogout{
				Issuer: issuer, Subject: "1", SID: tt.sid, Issued: said,
				Began: func(up identity.Upstream) time.Time {
					if up.IDToken.Reveal() != "id" {
						t.Errorf("got the ID token %q", up.IDToken.Reveal())
					}
					return tt.began
				},
			})
			if err != nil || n == 1 != tt.ends {
				t.Fatalf("got %d, %v", n, err)
			}
			if _, err := r.Verify(t.Context(), secret); errors.Is(err, policy.ErrRevoked) != tt.ends {
				t.Errorf("the session: got %v", err)
			}
			for _, bearer := range []struct {
				issued time.Time
				want   error
			}{{said.Add(-time.Second), policy.ErrRevoked}, {said, policy.ErrRevoked}, {said.Add(time.Second), nil}} {
				x := oidcUser("bob", "1")
				if x.Issued = bearer.issued; tt.sid != "" {
					bearer.want = nil
				}
				if _, err := r.Admit(t.Context(), x); !errors.Is(err, bearer.want) {
					t.Errorf("a bearer token of %s: got %v, want %v", bearer.issued.Sub(said), err, bearer.want)
				}
			}
		})
	}
}

// A logout that comes late takes nothing back that was ended since.
func TestLogoutUpstreamKeepsALaterEnd(t *testing.T) {
	r := newRig(t)
	r.SetSources(nil, newProvider())
	x := oidcUser("bob", "1")
	x.Issued = time.Now().Add(-time.Minute)
	r.admit(t, x)
	if _, err := r.Logout(t.Context(), boss, "bob", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := r.LogoutUpstream(t.Context(), identity.UpstreamLogout{Issuer: issuer, Subject: "1", Issued: x.Issued.Add(-time.Hour)}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Admit(t.Context(), x); !errors.Is(err, policy.ErrRevoked) {
		t.Errorf("got %v, want ErrRevoked", err)
	}
}

// The attack: a stream or a run goes on after the settings took back what let it in.
func TestResolveAsTheSettingsSay(t *testing.T) {
	r := newRig(t)
	x := oidcUser("bob", "1")
	x.Groups = []string{string(policy.User)}
	p := r.admit(t, x)
	if _, err := r.Resolve(t.Context(), p); err == nil || errors.Is(err, policy.ErrRevoked) {
		t.Errorf("before the sources are known: got %v, want a technical error", err)
	}
	r.SetSources(nil, newProvider())
	if is, err := r.Resolve(t.Context(), p); err != nil || is.Role != policy.User {
		t.Errorf("got %s, %v", is.Role, err)
	}
	less := p
	less.Groups = []string{string(policy.Readonly)}
	if is, err := r.Resolve(t.Context(), less); err != nil || is.Role != policy.Readonly {
		t.Errorf("groups that give less now: got %s, %v", is.Role, err)
	}
	less.Groups = nil
	if _, err := r.Resolve(t.Context(), less); !errors.Is(err, policy.ErrRevoked) {
		t.Errorf("groups that give nothing now: got %v, want ErrRevoked", err)
	}
	other := x
	other.Issuer, other.Name = "https://other.example", "eve"
	if _, err := r.Resolve(t.Context(), r.admit(t, other)); !errors.Is(err, policy.ErrRevoked) {
		t.Errorf("another provider: got %v, want ErrRevoked", err)
	}
	r.SetSources(nil, nil)
	if _, err := r.Resolve(t.Context(), p); !errors.Is(err, policy.ErrRevoked) {
		t.Errorf("without any provider: got %v, want ErrRevoked", err)
	}
	cert := r.admit(t, identity.External{Source: policy.SourceCertificate, Issuer: "CN=ca", Subject: "cn:ops-1", Name: "ops-1", Role: policy.User})
	for _, tt := range []struct{ now, want policy.Role }{{policy.User, policy.User}, {policy.Readonly, policy.Readonly}, {policy.Admin, policy.User}, {"", ""}} {
		r.AcceptCertificates(func(issuer, subject string) policy.Role {
			if issuer != "CN=ca" || subject != "cn:ops-1" {
				t.Errorf("asked for %q of %q", subject, issuer)
			}
			return tt.now
		})
		if is, err := r.Resolve(t.Context(), cert); is.Role != tt.want || errors.Is(err, policy.ErrRevoked) != (tt.want == "") {
			t.Errorf("rules that give %q: got %q, %v; want %q", tt.now, is.Role, err, tt.want)
		}
	}
}

func second(_ int, err error) error { return err }
