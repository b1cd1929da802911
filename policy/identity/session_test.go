package identity_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

// login opens a session of a day and returns it with its secret.
func (r *rig) login(t testing.TB, p policy.Principal, kind identity.SessionKind) (identity.Session, string) {
	t.Helper()
	session, secret, err := r.Login(t.Context(), identity.NewSession{Principal: p, Kind: kind, Lifetime: 24 * time.Hour, Agent: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return session, secret.Reveal()
}

func TestLogin(t *testing.T) {
	r := newRig(t)
	p := r.verify(t, r.addUser(t, identity.AddUser{Name: "bob", Role: policy.User}))
	p.Address = "192.0.2.7"
	before := time.Now().UTC().Truncate(time.Microsecond)
	session, secret, err := r.Login(t.Context(), identity.NewSession{
		Principal: p, Kind: identity.WebSession, Lifetime: time.Hour, Agent: "a\x00b" + strings.Repeat("é", 150),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := identity.Session{
		ID: session.ID, User: "bob", Kind: identity.WebSession, Source: "token", TokenID: p.TokenID, Created: session.Created,
		Expires: session.Created.Add(time.Hour), Address: p.Address, Agent: "ab" + strings.Repeat("é", 99),
	}
	if d := cmp.Diff(want, session); d != "" || session.Created.Before(before) || !identity.IsToken(secret.Reveal()) {
		t.Errorf("(-want +got):\n%s", d)
	}
	for range 2 { // loaded, then cached
		got, err := r.Session(t.Context(), secret.Reveal(), identity.WebSession)
		principal := policy.Principal{
			User: "bob", Role: policy.User, Source: "token", TokenID: p.TokenID,
			SessionID: session.ID, Issued: session.Created, Expires: session.Expires,
		}
		if d := cmp.Diff(principal, got); err != nil || d != "" {
			t.Errorf("%v (-want +got):\n%s", err, d)
		}
		if again, err := r.Resolve(t.Context(), got); err != nil || !cmp.Equal(got, again) {
			t.Errorf("Resolve: %v (-want +got):\n%s", err, cmp.Diff(got, again))
		}
	}
	if sessions, err := r.Sessions(t.Context(), "bob"); err != nil || !cmp.Equal(sessions, []identity.Session{want}) {
		t.Errorf("got %+v, %v", sessions, err)
	}
	if sessions, err := r.Sessions(t.Context(), "eve"); err != nil || len(sessions) != 0 {
		t.Errorf("got %+v, %v; want none of somebody else", sessions, err)
	}
	e := r.log.recorded[len(r.log.recorded)-1]
	if e.Type != audit.Login || e.User != "bob" || e.Role != "user" || e.Action != "token" || e.Address != p.Address ||
		!strings.Contains(e.Input, session.ID) || !json.Valid([]byte(e.Input)) || strings.Contains(e.Input, secret.Reveal()[4:20]) {
		t.Errorf("got record %+v", e)
	}
}

func TestSessionsOfOneKindOnly(t *testing.T) {
	r := newRig(t)
	token := r.addUser(t, identity.AddUser{Name: "bob", Role: policy.User})
	p := r.verify(t, token)
	_, web := r.login(t, p, identity.WebSession)
	_, api := r.login(t, p, identity.APISession)
	verify := func(secret string) error { _, err := r.Verify(t.Context(), secret); return err }
	session := func(secret string, kind identity.SessionKind) error {
		_, err := r.Session(t.Context(), secret, kind)
		return err
	}
	for range 2 {
		for name, tt := range map[string]struct{ got, want error }{
			"token as token":    {verify(token), nil},
			"api as token":      {verify(api), nil},
			"web as token":      {verify(web), identity.ErrUnknown},
			"web as web":        {session(web, identity.WebSession), nil},
			"api as api":        {session(api, identity.APISession), nil},
			"api as web":        {session(api, identity.WebSession), identity.ErrUnknown},
			"web as api":        {session(web, identity.APISession), identity.ErrUnknown},
			"token as web":      {session(token, identity.WebSession), identity.ErrUnknown},
			"token as api":      {session(token, identity.APISession), identity.ErrUnknown},
			"unknown as web":    {session(identity.MakeToken(), identity.WebSession), identity.ErrUnknown},
			"mistyped as web":   {session(mistype(web), identity.WebSession), identity.ErrMalformed},
			"web as no kind":    {session(web, ""), identity.ErrUnknown},
			"something as web":  {session("x", identity.WebSession), identity.ErrMalformed},
			"mistyped as token": {verify(mistype(api)), identity.ErrMalformed},
		} {
			if !errors.Is(tt.got, tt.want) {
				t.Errorf("%s: got %v, want %v", name, tt.got, tt.want)
			}
		}
	}
}

func TestLoginRefuses(t *testing.T) {
	r := newRig(t)
	p := r.verify(t, r.addUser(t, identity.AddUser{Name: "bob", Role: policy.User}))
	_, secret := r.login(t, p, identity.APISession)
	session := r.verify(t, secret)
	revoked := r.verify(t, r.addUser(t, identity.AddUser{Name: "eve", Role: policy.User}))
	if _, err := r.RevokeToken(t.Context(), boss, "eve", ""); err != nil {
		t.Fatal(err)
	}
	old := r.admit(t, ldapUser("old", "o", policy.User))
	if _, err := r.Logout(t.Context(), boss, "old", ""); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		n    identity.NewSession
		want error
	}{
		"no kind":                {identity.NewSession{Principal: p, Lifetime: time.Hour}, identity.ErrInvalid},
		"unknown kind":           {identity.NewSession{Principal: p, Kind: "x", Lifetime: time.Hour}, identity.ErrInvalid},
		"no lifetime":            {identity.NewSession{Principal: p, Kind: identity.WebSession}, identity.ErrInvalid},
		"from a session":         {identity.NewSession{Principal: session, Kind: identity.WebSession, Lifetime: time.Hour}, identity.ErrInvalid},
		"of a local user":        {identity.NewSession{Principal: boss, Kind: identity.WebSession, Lifetime: time.Hour}, identity.ErrInvalid},
		"of a revoked token":     {identity.NewSession{Principal: revoked, Kind: identity.WebSession, Lifetime: time.Hour}, policy.ErrRevoked},
		"from before the cutoff": {identity.NewSession{Principal: old, Kind: identity.WebSession, Lifetime: time.Hour}, policy.ErrRevoked},
		"another source": {identity.NewSession{
			Principal: policy.Principal{User: "bob", Role: policy.Admin, Source: policy.SourceLDAP}, Kind: identity.WebSession, Lifetime: time.Hour,
		}, policy.ErrRevoked},
		"another's token": {identity.NewSession{
			Principal: policy.Principal{User: "eve", Source: policy.SourceToken, TokenID: p.TokenID}, Kind: identity.WebSession, Lifetime: time.Hour,
		}, policy.ErrRevoked},
	} {
		if session, secret, err := r.Login(t.Context(), tt.n); !errors.Is(err, tt.want) || secret != "" || session.ID != "" {
			t.Errorf("%s: got %+v, %v; want %v", name, session, err, tt.want)
		}
	}
	r.log.fail = errors.New("disk full")
	if _, secret, err := r.Login(t.Context(), identity.NewSession{Principal: p, Kind: identity.WebSession, Lifetime: time.Hour}); !errors.Is(err, r.log.fail) || secret != "" {
		t.Errorf("without a record: got %v, want the log's error", err)
	}
}

// A session ends with whatever it depends on, and by itself.
func TestSessionEnds(t *testing.T) {
	yes, soon := true, 30*time.Minute
	for name, end := range map[string]func(*testing.T, *rig, policy.Principal) error{
		"token revoked": func(t *testing.T, r *rig, p policy.Principal) error {
			_, err := r.RevokeToken(t.Context(), boss, "bob", p.TokenID)
			return err
		},
		"token rotated": func(t *testing.T, r *rig, _ policy.Principal) error {
			_, _, err := r.RotateToken(t.Context(), boss, "bob", "", 0)
			return err
		},
		"token rotated with a grace that ends": func(t *testing.T, r *rig, _ policy.Principal) error {
			_, _, err := r.RotateToken(t.Context(), boss, "bob", "", soon)
			time.Sleep(soon)
			return err
		},
		"user disabled": func(t *testing.T, r *rig, _ policy.Principal) error {
			_, err := r.UpdateUser(t.Context(), boss, "bob", identity.UpdateUser{Disabled: &yes})
			return err
		},
		"user removed": func(t *testing.T, r *rig, _ policy.Principal) error {
			_, err := r.RemoveUser(t.Context(), boss, "bob")
			return err
		},
		"user expired": func(t *testing.T, r *rig, _ policy.Principal) error {
			at := time.Now().Add(soon)
			_, err := r.UpdateUser(t.Context(), boss, "bob", identity.UpdateUser{Expires: &at})
			time.Sleep(soon)
			return err
		},
		"by itself": func(*testing.T, *rig, policy.Principal) error {
			time.Sleep(24 * time.Hour)
			return nil
		},
		"logged out": func(t *testing.T, r *rig, p policy.Principal) error {
			ended, err := r.Logout(t.Context(), p, "bob", p.SessionID)
			if len(ended) != 1 || ended[0].ID != p.SessionID {
				t.Errorf("got %+v, want the session", ended)
			}
			return err
		},
		"logged out by an admin": func(t *testing.T, r *rig, p policy.Principal) error {
			_, err := r.Logout(t.Context(), boss, "bob", p.SessionID)
			return err
		},
		"all logged out": func(t *testing.T, r *rig, p policy.Principal) error {
			_, err := r.Logout(t.Context(), p, "bob", "")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				token := r.verify(t, r.addUser(t, identity.AddUser{Name: "bob", Role: policy.User}))
				_, secret := r.login(t, token, identity.WebSession)
				p, err := r.Session(t.Context(), secret, identity.WebSession)
				if err != nil {
					t.Fatal(err)
				}
				if err := end(t, r, p); err != nil {
					t.Fatal(err)
				}
				_, verified := r.Session(t.Context(), secret, identity.WebSession)
				_, resolved := r.Resolve(t.Context(), p)
				for what, err := range map[string]error{"Session": verified, "Resolve": resolved} {
					if !errors.Is(err, policy.ErrRevoked) && !errors.Is(err, policy.ErrExpired) {
						t.Errorf("%s: got %v, want an end", what, err)
					}
				}
				if left, err := r.Sessions(t.Context(), ""); err != nil || len(left) != 0 {
					t.Errorf("got %+v, %v; want it off the list", left, err)
				}
			})
		})
	}
}

func TestSessionFollowsTheRole(t *testing.T) {
	r := newRig(t)
	_, secret := r.login(t, r.verify(t, r.addUser(t, identity.AddUser{Name: "bob", Role: policy.User})), identity.APISession)
	for _, role := range []policy.Role{policy.Readonly, policy.User} {
		if _, err := r.UpdateUser(t.Context(), boss, "bob", identity.UpdateUser{Role: &role}); err != nil {
			t.Fatal(err)
		}
		if p := r.verify(t, secret); p.Role != role {
			t.Errorf("got role %s, want %s", p.Role, role)
		}
	}
}

func TestLogoutRefuses(t *testing.T) {
	r := newRig(t)
	bob := r.verify(t, r.addUser(t, identity.AddUser{Name: "bob", Role: policy.User}))
	eve := r.verify(t, r.addUser(t, identity.AddUser{Name: "eve", Role: policy.User}))
	session, secret := r.login(t, bob, identity.APISession)
	for name, tt := range map[string]struct {
		actor    policy.Principal
		user, id string
		want     error
	}{
		"another's":             {eve, "bob", session.ID, identity.ErrForbidden},
		"all of another":        {eve, "bob", "", identity.ErrForbidden},
		"another's as own":      {eve, "eve", session.ID, identity.ErrSessionNotFound},
		"another's, as nobody":  {policy.Principal{}, "", session.ID, identity.ErrForbidden},
		"unknown id":            {bob, "bob", "0", identity.ErrSessionNotFound},
		"unknown user":          {boss, "nobody", "", identity.ErrUserNotFound},
		"own, without a record": {bob, "bob", session.ID, errDisk},
	} {
		if tt.want == errDisk {
			r.log.fail = errDisk
		}
		if ended, err := r.Logout(t.Context(), tt.actor, tt.user, tt.id); !errors.Is(err, tt.want) || len(ended) != 0 {
			t.Errorf("%s: got %+v, %v; want %v", name, ended, err, tt.want)
		}
		r.log.fail = nil
	}
	r.verify(t, secret)
}

// The attack: a token that may only read ends what its user works with. It may log out itself.
func TestWeakTokenEndsNothingElse(t *testing.T) {
	r := newRig(t)
	root := r.verify(t, r.addUser(t, identity.AddUser{Name: "root", Role: policy.Admin}))
	_, secret, err := r.AddToken(t.Context(), boss, "root", identity.AddToken{Name: "ci", Role: policy.Readonly})
	if err != nil {
		t.Fatal(err)
	}
	weak := r.verify(t, secret.Reveal())
	strong, kept := r.login(t, root, identity.APISession)
	own, _ := r.login(t, weak, identity.APISession)
	if weak.Role != policy.Readonly {
		t.Fatalf("got role %s", weak.Role)
	}
	for _, id := range []string{"", strong.ID} {
		if ended, err := r.Logout(t.Context(), weak, "root", id); !errors.Is(err, identity.ErrForbidden) || len(ended) != 0 {
			t.Errorf("%q: got %+v, %v; want ErrForbidden", id, ended, err)
		}
	}
	r.verify(t, kept)
	if ended, err := r.Logout(t.Context(), weak, "root", own.ID); err != nil || len(ended) != 1 {
		t.Errorf("its own session: got %+v, %v", ended, err)
	}
	if ended, err := r.Logout(t.Context(), root, "root", ""); err != nil || len(ended) != 1 {
		t.Errorf("the user itself: got %+v, %v", ended, err)
	}
}

var errDisk = errors.New("disk full")

func TestLogoutIsRecorded(t *testing.T) {
	r := newRig(t)
	bob := r.verify(t, r.addUser(t, identity.AddUser{Name: "bob", Role: policy.User}))
	session, _ := r.login(t, bob, identity.WebSession)
	r.log.recorded, r.log.queued = nil, nil
	if _, err := r.Logout(t.Context(), bob, "bob", ""); err != nil {
		t.Fatal(err)
	}
	e, outcome := r.log.recorded[0], r.log.queued[0]
	if e.Type != audit.Logout || e.Action != "logout" || e.User != "bob" || e.Status != "started" || outcome.Status != "success" ||
		!strings.Contains(e.Input, `"ended_sessions":[{"id":"`+session.ID) || !strings.Contains(e.Input, `"valid_after":`) {
		t.Errorf("got %+v, %+v", e, outcome)
	}
}

// A session is refused from the moment that its logout returned, whatever else goes on.
func TestConcurrentSessionAndLogout(t *testing.T) {
	r := newRig(t)
	var wg sync.WaitGroup
	for i := range 8 {
		p := r.verify(t, r.addUser(t, identity.AddUser{Name: fmt.Sprintf("u%d", i), Role: policy.User}))
		session, secret := r.login(t, p, identity.WebSession)
		begun := make(chan struct{})
		var once sync.Once
		for range 2 {
			wg.Go(func() {
				for {
					_, err := r.Session(t.Context(), secret, identity.WebSession)
					once.Do(func() { close(begun) })
					if err != nil {
						if !errors.Is(err, policy.ErrRevoked) {
							t.Error(err)
						}
						return
					}
				}
			})
		}
		<-begun
		if _, err := r.Logout(t.Context(), p, p.User, session.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Session(t.Context(), secret, identity.WebSession); !errors.Is(err, policy.ErrRevoked) {
			t.Errorf("got %v right after the logout, want ErrRevoked", err)
		}
	}
	wg.Wait()
}

// Logins do not empty the caches, and somebody who logs in for ever keeps the newest sessions.
func TestManyLogins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		p := r.verify(t, r.addUser(t, identity.AddUser{Name: "bob", Role: policy.User}))
		revision, _ := r.store.Revision(t.Context())
		var secrets []string
		for range 200 {
			_, secret := r.login(t, p, identity.APISession)
			secrets = append(secrets, secret)
			time.Sleep(time.Millisecond)
		}
		if now, _ := r.store.Revision(t.Context()); now != revision {
			t.Errorf("got revision %d after logins, want %d", now, revision)
		}
		for _, secret := range secrets {
			r.verify(t, secret)
		}
		r.login(t, p, identity.APISession)
		if _, err := r.Verify(t.Context(), secrets[0]); !errors.Is(err, policy.ErrRevoked) {
			t.Errorf("the oldest of 201: got %v, want ErrRevoked", err)
		}
		r.verify(t, secrets[1])
		if list, err := r.Sessions(t.Context(), "bob"); err != nil || len(list) != 200 {
			t.Errorf("got %d sessions, %v; want 200", len(list), err)
		}
	})
}

func TestSessionsLastUseAndPruning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		p := r.verify(t, r.addUser(t, identity.AddUser{Name: "bob", Role: policy.User}))
		session, secret := r.login(t, p, identity.APISession)
		time.Sleep(time.Minute)
		at := time.Now().UTC().Truncate(time.Microsecond)
		r.verify(t, secret)
		time.Sleep(11 * time.Second)
		if list, err := r.Sessions(t.Context(), "bob"); err != nil || !list[0].LastUsed.Equal(at) {
			t.Errorf("got %+v, %v; want last use %s", list, err, at)
		}
		time.Sleep(24 * time.Hour)
		if _, err := r.Verify(t.Context(), secret); !errors.Is(err, policy.ErrExpired) {
			t.Errorf("got %v, want ErrExpired", err)
		}
		if _, err := r.store.SessionByID(t.Context(), session.ID); err != nil {
			t.Errorf("got %v shortly after the end, want it kept for a while", err)
		}
		time.Sleep(26 * time.Hour)
		if _, err := r.store.SessionByID(t.Context(), session.ID); !errors.Is(err, identity.ErrNotFound) {
			t.Errorf("got %v a day after the end, want it forgotten", err)
		}
	})
}

// Where an admin takes tokens off the ways in, whoever has a session, a stream or a run by one is
// out as well.
func TestTokensAreNoWayInAnyMore(t *testing.T) {
	r := newRig(t)
	p := r.verify(t, r.addUser(t, identity.AddUser{Name: "alice", Role: policy.User}))
	session, secret := r.login(t, p, identity.APISession)
	opened := p
	opened.SessionID = session.ID
	for _, accept := range []bool{true, false, true} {
		r.AcceptTokens(accept)
		_, verified := r.Verify(t.Context(), secret)
		_, byToken := r.Resolve(t.Context(), p)
		_, bySession := r.Resolve(t.Context(), opened)
		for what, err := range map[string]error{"Verify": verified, "Resolve of the token": byToken, "Resolve of the session": bySession} {
			if accept && err != nil || !accept && !errors.Is(err, policy.ErrRevoked) {
				t.Errorf("%s, tokens accepted %v: got %v", what, accept, err)
			}
		}
	}
}
