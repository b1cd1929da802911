package identity_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/bus"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/sqlite"
)

// directory is a Directory that knows subjects.
type directory struct {
	mu      sync.Mutex
	role    policy.Role
	err     error
	lookups int
}

func (*directory) Authenticate(context.Context, string, string) (identity.External, error) {
	return identity.External{}, errors.New("unexpected")
}

func (d *directory) Lookup(_ context.Context, subject string) (identity.External, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lookups++
	return identity.External{Source: policy.SourceLDAP, Subject: subject, Role: d.role, Groups: []string{"now"}}, d.err
}

func (d *directory) say(role policy.Role, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.role, d.err = role, err
}

func ldapUser(name, subject string, role policy.Role) identity.External {
	return identity.External{Source: policy.SourceLDAP, Subject: subject, Name: name, Role: role, Groups: []string{"staff"}}
}

func (r *rig) admit(t testing.TB, x identity.External) policy.Principal {
	t.Helper()
	p, err := r.Admit(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// counted counts how often a token is looked up in the store.
type counted struct {
	identity.Store
	looked atomic.Int64
}

func (c *counted) ByHash(ctx context.Context, h identity.Hash) (identity.Credential, error) {
	c.looked.Add(1)
	return c.Store.ByHash(ctx, h)
}

// Many people may come for the first time at once: requests of others notice nothing of it.
func TestNewAccountsForgetNoTokens(t *testing.T) {
	st, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "identity.db"))
	if err != nil {
		t.Fatal(err)
	}
	c := &counted{Store: st}
	s, err := identity.New(t.Context(), c, &recorder{store: st}, bus.NewMemory())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r := &rig{Service: s}
	token := r.addUser(t, identity.AddUser{Name: "bob", Role: policy.User})
	for i := range 10 {
		r.verify(t, token)
		r.admit(t, ldapUser(fmt.Sprintf("u%d", i), fmt.Sprint(i), policy.User))
	}
	if got := c.looked.Load(); got != 1 {
		t.Errorf("got %d look-ups of one token, want 1", got)
	}
}

func TestAdmit(t *testing.T) {
	r := newRig(t)
	issued, expires := time.Now().Add(-time.Minute).UTC().Truncate(time.Microsecond), time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
	x := identity.External{
		Source: policy.SourceOIDC, Issuer: "https://idp", Subject: "1", Name: "Jane Doe", Role: policy.User,
		Groups: []string{"a", "b"}, Issued: issued, Expires: expires,
	}
	want := policy.Principal{
		User: "Jane-Doe", Role: policy.User, Groups: x.Groups, Source: policy.SourceOIDC, Issued: issued, Expires: expires,
	}
	for _, role := range []policy.Role{policy.User, policy.Admin, policy.Readonly} {
		x.Role, want.Role = role, role // of the credential, not of the account
		if d := cmp.Diff(want, r.admit(t, x)); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
		x.Name = "renamed"
	}
	accounts, err := r.Users(t.Context())
	if err != nil || len(accounts) != 1 || accounts[0].Name != "Jane-Doe" || accounts[0].Link != (identity.Link{Source: "oidc", Issuer: "https://idp", Subject: "1"}) {
		t.Errorf("got %+v, %v", accounts, err)
	}
	if len(r.log.recorded) != 1 || len(r.log.queued) != 1 {
		t.Fatalf("got %d intents and %d outcomes, want 1", len(r.log.recorded), len(r.log.queued))
	}
	e := r.log.recorded[0]
	if e.Type != audit.AccountCreated || e.User != "Jane-Doe" || e.Action != "oidc" || e.Status != "started" || r.log.at[0] != 0 {
		t.Errorf("got %+v at revision %d, want the record of a new account before it is made", e, r.log.at[0])
	}
}

func TestAdmitRefuses(t *testing.T) {
	r := newRig(t)
	r.addUser(t, identity.AddUser{Name: "local", Role: policy.User})
	r.addUser(t, identity.AddUser{Name: "removed", Role: policy.User})
	if _, err := r.RemoveUser(t.Context(), boss, "removed"); err != nil {
		t.Fatal(err)
	}
	r.admit(t, ldapUser("known", "k", policy.User))
	with := func(change func(*identity.External)) identity.External {
		x := ldapUser("new", "n", policy.User)
		change(&x)
		return x
	}
	for name, tt := range map[string]struct {
		x    identity.External
		want error
	}{
		"no role":                 {with(func(x *identity.External) { x.Role = "" }), identity.ErrNoRole},
		"unknown role":            {with(func(x *identity.External) { x.Role = "root" }), identity.ErrInvalid},
		"no subject":              {with(func(x *identity.External) { x.Subject = "" }), identity.ErrInvalid},
		"no source":               {with(func(x *identity.External) { x.Source = "" }), identity.ErrInvalid},
		"source token":            {with(func(x *identity.External) { x.Source = policy.SourceToken }), identity.ErrInvalid},
		"no name":                 {with(func(x *identity.External) { x.Name = "" }), identity.ErrInvalid},
		"nothing of the name":     {with(func(x *identity.External) { x.Name = "- 王 -" }), identity.ErrInvalid},
		"long name":               {with(func(x *identity.External) { x.Name = strings.Repeat("x", 65) }), identity.ErrInvalid},
		"expired":                 {with(func(x *identity.External) { x.Expires = time.Now() }), policy.ErrExpired},
		"name of a local user":    {with(func(x *identity.External) { x.Name = "local" }), identity.ErrNameTaken},
		"in other capitals":       {with(func(x *identity.External) { x.Name = "LoCal" }), identity.ErrNameTaken},
		"mapped to a local user":  {with(func(x *identity.External) { x.Name = " local!" }), identity.ErrNameTaken},
		"name of a removed user":  {with(func(x *identity.External) { x.Name = "removed" }), identity.ErrNameTaken},
		"name of another subject": {with(func(x *identity.External) { x.Name = "known" }), identity.ErrNameTaken},
		"same subject elsewhere":  {with(func(x *identity.External) { x.Name, x.Subject, x.Issuer = "known", "k", "other" }), identity.ErrNameTaken},
		"same subject by OIDC":    {with(func(x *identity.External) { x.Name, x.Subject, x.Source = "known", "k", "oidc" }), identity.ErrNameTaken},
	} {
		if p, err := r.Admit(t.Context(), tt.x); !errors.Is(err, tt.want) || p.User != "" {
			t.Errorf("%s: got %+v, %v; want %v", name, p, err, tt.want)
		}
	}
	if accounts, err := r.Users(t.Context()); err != nil || len(accounts) != 2 {
		t.Errorf("got %d accounts, %v; want the two from before", len(accounts), err)
	}
}

// Of the first logins of one person at once one makes the account, and all are let in; of two
// persons of one name one gets it, for good.
func TestAdmitConcurrently(t *testing.T) {
	r := newRig(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	in := map[string]int{}
	for i := range 40 {
		subject := fmt.Sprintf("%d", i%4)
		wg.Go(func() {
			p, err := r.Admit(t.Context(), ldapUser("bob", subject, policy.User))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil && p.User == "bob":
				in[subject]++
			case !errors.Is(err, identity.ErrNameTaken):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if accounts, err := r.Users(t.Context()); err != nil || len(accounts) != 1 || len(in) != 1 || in[accounts[0].Subject] != 10 {
		t.Errorf("got %+v for %v, %v; want one account with ten logins", accounts, in, err)
	}
}

func TestExternalAccountsCanBeClosed(t *testing.T) {
	yes, soon := true, time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
	for name, tt := range map[string]struct {
		close func(*rig) error
		want  error
	}{
		"disabled": {func(r *rig) error {
			_, err := r.UpdateUser(t.Context(), boss, "bob", identity.UpdateUser{Disabled: &yes})
			return err
		}, policy.ErrRevoked},
		"cut off": {func(r *rig) error { _, err := r.Logout(t.Context(), boss, "bob", ""); return err }, policy.ErrRevoked},
		"removed": {func(r *rig) error { _, err := r.RemoveUser(t.Context(), boss, "bob"); return err }, policy.ErrRevoked},
		"revoked": {func(r *rig) error { _, err := r.RevokeToken(t.Context(), boss, "bob", ""); return err }, policy.ErrRevoked},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.SetSources(&directory{role: policy.User}, nil)
			x := ldapUser("bob", "1", policy.User)
			x.Issued = time.Now().Add(-time.Minute)
			p := r.admit(t, x)
			session, secret := r.login(t, p, identity.APISession)
			if err := tt.close(r); err != nil {
				t.Fatal(err)
			}
			_, again := r.Admit(t.Context(), x)
			_, resolved := r.Resolve(t.Context(), p)
			_, verified := r.Verify(t.Context(), secret)
			p.SessionID = session.ID
			_, resolvedSession := r.Resolve(t.Context(), p)
			for what, err := range map[string]error{"Admit": again, "Resolve": resolved, "Verify": verified, "Resolve of the session": resolvedSession} {
				if !errors.Is(err, tt.want) {
					t.Errorf("%s: got %v, want %v", what, err, tt.want)
				}
			}
		})
	}
	t.Run("with an end", func(t *testing.T) {
		r := newRig(t)
		x := ldapUser("bob", "1", policy.User)
		r.admit(t, x)
		if _, err := r.UpdateUser(t.Context(), boss, "bob", identity.UpdateUser{Expires: &soon}); err != nil {
			t.Fatal(err)
		}
		if p := r.admit(t, x); !p.Expires.Equal(soon) {
			t.Errorf("got end %s, want %s", p.Expires, soon)
		}
	})
}

// Who was removed and logs in afresh gets the same account again, without what was from before.
func TestRemovedExternalComesBack(t *testing.T) {
	r := newRig(t)
	r.SetSources(&directory{role: policy.User}, nil)
	before := ldapUser("bob", "1", policy.User)
	before.Issued = time.Now()
	p := r.admit(t, before)
	_, secret := r.login(t, p, identity.APISession)
	if _, err := r.RemoveUser(t.Context(), boss, "bob"); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Admit(t.Context(), before); !errors.Is(err, policy.ErrRevoked) {
		t.Errorf("got %v for what was issued before, want ErrRevoked", err)
	}
	if accounts, err := r.Users(t.Context()); err != nil || len(accounts) != 0 {
		t.Errorf("got %+v, %v; want nobody", accounts, err)
	}
	if p := r.admit(t, ldapUser("renamed", "1", policy.User)); p.User != "bob" {
		t.Errorf("got user %s, want bob", p.User)
	}
	if _, err := r.Verify(t.Context(), secret); !errors.Is(err, policy.ErrRevoked) {
		t.Errorf("got %v for the old session, want ErrRevoked", err)
	}
}

func TestResolveAsksTheDirectory(t *testing.T) {
	r := newRig(t)
	d := &directory{role: policy.User}
	p := r.admit(t, ldapUser("bob", "1", policy.User))
	_, secret := r.login(t, p, identity.APISession)
	both := func() (policy.Principal, error) {
		t.Helper()
		resolved, err1 := r.Resolve(t.Context(), p)
		verified, err2 := r.Verify(t.Context(), secret)
		if resolved.Role != verified.Role || (err1 == nil) != (err2 == nil) || errors.Is(err1, policy.ErrRevoked) != errors.Is(err2, policy.ErrRevoked) {
			t.Errorf("Resolve and Verify differ: %+v, %v; %+v, %v", resolved, err1, verified, err2)
		}
		return resolved, err1
	}
	if _, err := both(); err == nil || errors.Is(err, policy.ErrRevoked) {
		t.Errorf("before the sources are known: got %v, want a technical error", err)
	}
	r.SetSources(d, nil)
	if got, err := both(); err != nil || got.Role != policy.User || got.Groups[0] != "now" {
		t.Errorf("got %+v, %v", got, err)
	}
	d.say(policy.Readonly, nil)
	if got, err := both(); err != nil || got.Role != policy.Readonly {
		t.Errorf("demoted: got %+v, %v", got, err)
	}
	d.say("", errors.ErrUnsupported)
	if got, err := both(); err != nil || got.Role != policy.User || got.Groups[0] != "staff" {
		t.Errorf("without look-ups: got %+v, %v; want what it was", got, err)
	}
	d.say("", errors.New("connection refused"))
	if _, err := both(); err == nil || errors.Is(err, policy.ErrRevoked) {
		t.Errorf("directory down: got %v, want a technical error", err)
	}
	for name, err := range map[string]error{"gone": policy.ErrRevoked, "without a role": nil} {
		d.say("", err)
		if _, err := both(); !errors.Is(err, policy.ErrRevoked) {
			t.Errorf("%s: got %v, want ErrRevoked", name, err)
		}
	}
	r.SetSources(nil, nil)
	if _, err := both(); !errors.Is(err, policy.ErrRevoked) {
		t.Errorf("without a directory: got %v, want ErrRevoked", err)
	}
}

func TestResolveExternalWithoutASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.SetSources(nil, newProvider())
		for _, source := range []string{policy.SourceOIDC, policy.SourceCertificate} {
			p := r.admit(t, identity.External{
				Source: source, Issuer: issuer, Subject: "1", Name: source, Role: policy.Admin,
				Groups: []string{string(policy.Admin)}, Expires: time.Now().Add(time.Hour),
			})
			got, err := r.Resolve(t.Context(), p)
			if d := cmp.Diff(p, got); err != nil || d != "" {
				t.Errorf("%s: %v (-want +got):\n%s", source, err, d)
			}
			r.admit(t, ldapUser("other", "o", policy.User))
			acting, err := r.ActFor(t.Context(), p, "other")
			if err != nil || acting.Role != policy.User {
				t.Fatalf("got %+v, %v", acting, err)
			}
			if again, err := r.Resolve(t.Context(), acting); err != nil || again.Role != policy.User || again.OnBehalfOf != "other" {
				t.Errorf("%s on behalf of another: got %+v, %v", source, again, err)
			}
			for name, change := range map[string]func(*policy.Principal){
				"another source":    func(p *policy.Principal) { p.Source = policy.SourceLDAP },
				"another user":      func(p *policy.Principal) { p.User = "eve" },
				"of a session":      func(p *policy.Principal) { p.SessionID = "0" },
				"of no known times": func(p *policy.Principal) { p.Source = "magic" },
			} {
				p := p
				change(&p)
				if _, err := r.Resolve(t.Context(), p); !errors.Is(err, policy.ErrRevoked) {
					t.Errorf("%s: got %v, want ErrRevoked", name, err)
				}
			}
		}
		p := r.admit(t, identity.External{Source: policy.SourceOIDC, Subject: "2", Name: "jwt", Role: policy.User, Expires: time.Now().Add(time.Minute)})
		time.Sleep(time.Minute)
		if _, err := r.Resolve(t.Context(), p); !errors.Is(err, policy.ErrExpired) {
			t.Errorf("got %v, want ErrExpired", err)
		}
	})
}

// remembering is a directory that goes on to believe a password until it is told to forget.
type remembering struct {
	directory
	password string
	proved   map[string]identity.External
}

func (d *remembering) Authenticate(_ context.Context, user, password string) (identity.External, error) {
	if x, ok := d.proved[user+password]; ok {
		return x, nil
	}
	if password != d.password {
		return identity.External{}, identity.ErrCredentials
	}
	x := ldapUser(user, user, policy.User)
	x.Issued = time.Now()
	d.proved[user+password] = x
	return x, nil
}

func (d *remembering) Forget(user, password string) { delete(d.proved, user+password) }

// Who is cut off may log in again at once with the right password, and with no other, whatever
// the directory remembers.
func TestLogInAfterTheCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		d := &remembering{password: "old", proved: map[string]identity.External{}}
		passwords := identity.Passwords{Service: r.Service, Directory: d}
		check := func(password string) error {
			_, err := passwords.Check(t.Context(), "bob", password, "192.0.2.1")
			time.Sleep(time.Second)
			return err
		}
		if err := check("old"); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Logout(t.Context(), boss, "bob", ""); err != nil {
			t.Fatal(err)
		}
		if err := check("old"); err != nil {
			t.Errorf("the right password: got %v", err)
		}
		d.password = "new"
		if _, err := r.Logout(t.Context(), boss, "bob", ""); err != nil {
			t.Fatal(err)
		}
		if err := check("old"); err == nil {
			t.Error("a password of before the cut-off lets in")
		}
		if err := check("new"); err != nil {
			t.Errorf("the new password: got %v", err)
		}
	})
}

func TestLastLoginIsNoted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.admit(t, ldapUser("bob", "1", policy.User))
		time.Sleep(2 * time.Minute)
		at := time.Now().UTC().Truncate(time.Microsecond)
		revision, _ := r.store.Revision(t.Context())
		r.admit(t, ldapUser("bob", "1", policy.Admin))
		time.Sleep(11 * time.Second)
		synctest.Wait()
		accounts, err := r.Users(t.Context())
		if err != nil || !accounts[0].LastLogin.Equal(at) || accounts[0].Role != policy.Admin {
			t.Errorf("got %+v, %v; want the login at %s as admin", accounts, err, at)
		}
		if now, _ := r.store.Revision(t.Context()); now != revision {
			t.Error("a login emptied the caches")
		}
	})
}
