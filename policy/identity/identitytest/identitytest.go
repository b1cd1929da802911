// Package identitytest is the conformance suite of identity.Store. Every implementation passes
// it:
//
//	func TestStore(t *testing.T) {
//		identitytest.Conformance(t, func(t *testing.T) identity.Store { … })
//	}
//
// Tests of other packages get a whole service, on the embedded store, from [Open]. The functions are
// called by one goroutine a test.
package identitytest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

// Conformance checks that the stores made by open behave as identity.Store documents. open is
// called once a test and returns an empty store; it cleans up with t.Cleanup.
func Conformance(t *testing.T, open func(t *testing.T) identity.Store) {
	for name, test := range map[string]func(*testing.T, identity.Store){
		"an empty store":                       empty,
		"what is applied is read back":         readBack,
		"updates keep what they do not name":   update,
		"a filter selects":                     filter,
		"users are found by name and by link":  users,
		"a stale change conflicts":             conflict,
		"a change is all or nothing":           atomic,
		"a token's use is noted":               touch,
		"of concurrent changes none is lost":   concurrent,
		"accounts are read as of one moment":   snapshot,
		"lockouts are kept":                    lockouts,
		"familiar addresses are kept":          familiar,
		"an ended context ends an operation":   ended,
		"any number of users is kept in order": many,
		"old tokens that work are listed":      oldTokens,
		"an external account is added once":    addAccount,
		"a removed account comes back":         comeBack,
		"sessions are read back":               sessions,
		"sessions that work are listed":        listed,
		"the oldest of too many sessions ends": tooMany,
		"a session is renewed until it ends":   renew,
		"a change ends sessions":               endSessions,
		"old sessions are forgotten":           prune,
		"a closed store is unavailable":        closed,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

var epoch = time.Date(2027, 1, 31, 12, 30, 15, 123456000, time.UTC)

func user(name string, role policy.Role) identity.User {
	return identity.User{Name: name, Role: role, Created: epoch}
}

func token(user, id string) identity.NewToken {
	t := identity.NewToken{Token: identity.Token{ID: id, User: user, Name: "default", Created: epoch}}
	copy(t.Hash[:], id)
	return t
}

func apply(t *testing.T, s identity.Store, c identity.Change) int64 {
	t.Helper()
	var err error
	if c.Revision, err = s.Revision(t.Context()); err != nil {
		t.Fatal(err)
	}
	revision, err := s.Apply(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if want := c.Revision + 1; revision != want {
		t.Fatalf("got revision %d after a change of %d", revision, c.Revision)
	}
	return revision
}

func accounts(t *testing.T, s identity.Store, f identity.Filter) []identity.Account {
	t.Helper()
	list, revision, err := s.Accounts(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	if now, err := s.Revision(t.Context()); err != nil || now != revision {
		t.Fatalf("got accounts of revision %d, store is at %d (%v)", revision, now, err)
	}
	return list
}

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func empty(t *testing.T, s identity.Store) {
	if list := accounts(t, s, identity.Filter{}); len(list) != 0 {
		t.Errorf("got accounts %+v", list)
	}
	if _, err := s.ByHash(t.Context(), identity.Hash{1}); !errors.Is(err, identity.ErrNotFound) {
		t.Errorf("ByHash: got %v, want ErrNotFound", err)
	}
	if _, err := s.ByID(t.Context(), "1"); !errors.Is(err, identity.ErrNotFound) {
		t.Errorf("ByID: got %v, want ErrNotFound", err)
	}
}

func readBack(t *testing.T, s identity.Store) {
	bob := identity.User{
		Name: "bob", Role: policy.User, Created: epoch, Expires: epoch.Add(time.Hour), Disabled: true,
		Link: identity.Link{Source: "ldap", Issuer: "i", Subject: "s"}, ValidAfter: epoch.Add(time.Minute), Removed: epoch.Add(2 * time.Minute),
	}
	full := token("bob", "b1")
	full.Role = policy.Readonly
	full.Expires = epoch.Add(time.Microsecond)
	full.Revoked = epoch.Add(2 * time.Microsecond)
	full.LastUsed = epoch.Add(3 * time.Microsecond)
	plain := token("eve", "e1")
	revision := apply(t, s, identity.Change{
		Users:     []identity.User{bob, user("eve", policy.Admin)},
		NewTokens: []identity.NewToken{full, plain},
	})
	same(t, "accounts", []identity.Account{
		{User: bob, Tokens: []identity.Token{full.Token}},
		{User: user("eve", policy.Admin), Tokens: []identity.Token{plain.Token}},
	}, accounts(t, s, identity.Filter{}))
	want := identity.Credential{Token: full.Token, User: bob, Revision: revision}
	got, err := s.ByHash(t.Context(), full.Hash)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "by hash", want, got)
	if got, err = s.ByID(t.Context(), "b1"); err != nil {
		t.Fatal(err)
	}
	same(t, "by id", want, got)
}

func update(t *testing.T, s identity.Store) {
	used := token("bob", "b1")
	used.LastUsed = epoch
	apply(t, s, identity.Change{Users: []identity.User{user("bob", policy.User)}, NewTokens: []identity.NewToken{used}})
	changed := identity.User{Name: "bob", Role: policy.Readonly, Created: epoch.Add(time.Hour), Expires: epoch, Disabled: true}
	revoked := identity.Token{ID: "b1", User: "eve", Name: "other", Revoked: epoch}
	apply(t, s, identity.Change{Users: []identity.User{changed}, Tokens: []identity.Token{revoked}})
	changed.Created = epoch
	used.Revoked = epoch
	same(t, "accounts", []identity.Account{{User: changed, Tokens: []identity.Token{used.Token}}}, accounts(t, s, identity.Filter{}))
	apply(t, s, identity.Change{Users: []identity.User{user("bob", policy.User)}, Tokens: []identity.Token{{ID: "b1"}}})
	used.Revoked = time.Time{}
	same(t, "taken back", []identity.Account{{User: user("bob", policy.User), Tokens: []identity.Token{used.Token}}}, accounts(t, s, identity.Filter{}))
}

func filter(t *testing.T, s identity.Store) {
	a, b := token("a", "a1"), token("a", "a2")
	b.Created = epoch.Add(-time.Hour)
	apply(t, s, identity.Change{
		Users:     []identity.User{user("c", policy.User), user("a", policy.Admin), user("b", policy.Admin)},
		NewTokens: []identity.NewToken{a, b},
	})
	linked := external("x", "1")
	if _, err := s.AddAccount(t.Context(), linked); err != nil {
		t.Fatal(err)
	}
	fourth := identity.Account{User: linked}
	first := identity.Account{User: user("a", policy.Admin), Tokens: []identity.Token{b.Token, a.Token}}
	second := identity.Account{User: user("b", policy.Admin)}
	third := identity.Account{User: user("c", policy.User)}
	for f, want := range map[identity.Filter][]identity.Account{
		{}:                              {first, second, third, fourth},
		{Name: "a"}:                     {first},
		{Name: "A"}:                     {},
		{Name: "%"}:                     {},
		{Role: policy.Admin}:            {first, second},
		{Role: policy.Readonly}:         {},
		{Name: "c", Role: policy.User}:  {third},
		{Name: "c", Role: policy.Admin}: {},
		{Name: "nobody"}:                {},
	} {
		same(t, fmt.Sprintf("%+v", f), want, accounts(t, s, f))
	}
}

func users(t *testing.T, s identity.Store) {
	removed := user("bob", policy.User)
	removed.Removed = epoch
	revision := apply(t, s, identity.Change{Users: []identity.User{removed}, NewTokens: []identity.NewToken{token("bob", "b1")}})
	eve := external("eve", "1")
	if _, err := s.AddAccount(t.Context(), eve); err != nil {
		t.Fatal(err)
	}
	byName := func(name string) func() (identity.Credential, error) {
		return func() (identity.Credential, error) { return s.ByName(t.Context(), name) }
	}
	byLink := func(l identity.Link) func() (identity.Credential, error) {
		return func() (identity.Credential, error) { return s.ByLink(t.Context(), l) }
	}
	for name, tt := range map[string]struct {
		find func() (identity.Credential, error)
		want identity.User // zero: nobody
	}{
		"removed":              {byName("bob"), removed},
		"in capitals":          {byName("Bob"), identity.User{}},
		"external, by name":    {byName("eve"), eve},
		"external, by link":    {byLink(eve.Link), eve},
		"of another issuer":    {byLink(identity.Link{Source: "ldap", Issuer: "i", Subject: "1"}), identity.User{}},
		"of another source":    {byLink(identity.Link{Source: "oidc", Subject: "1"}), identity.User{}},
		"no link, as bob has":  {byLink(identity.Link{}), identity.User{}},
		"no name, that nobody": {byName(""), identity.User{}},
	} {
		got, err := tt.find()
		if tt.want.Name == "" {
			if !errors.Is(err, identity.ErrNotFound) {
				t.Errorf("%s: got %+v, %v; want ErrNotFound", name, got.User, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		same(t, name, identity.Credential{User: tt.want, Revision: revision}, got)
	}
}

func conflict(t *testing.T, s identity.Store) {
	first := apply(t, s, identity.Change{Users: []identity.User{user("bob", policy.User)}})
	apply(t, s, identity.Change{Users: []identity.User{user("eve", policy.User)}})
	before := accounts(t, s, identity.Filter{})
	for _, revision := range []int64{first, first - 1, first + 5, -1} {
		_, err := s.Apply(t.Context(), identity.Change{Revision: revision, Users: []identity.User{user("mallory", policy.Admin)}})
		if !errors.Is(err, identity.ErrConflict) {
			t.Errorf("revision %d: got %v, want ErrConflict", revision, err)
		}
	}
	same(t, "accounts", before, accounts(t, s, identity.Filter{}))
}

func atomic(t *testing.T, s identity.Store) {
	revision := apply(t, s, identity.Change{Users: []identity.User{user("bob", policy.User)}, NewTokens: []identity.NewToken{token("bob", "b1")}})
	before := accounts(t, s, identity.Filter{})
	sameID, sameHash := token("bob", "b1"), token("bob", "b1")
	sameID.Hash[31], sameHash.ID = 1, "b2"
	for name, c := range map[string]identity.Change{
		"id that exists":         {NewTokens: []identity.NewToken{sameID}},
		"hash that exists":       {NewTokens: []identity.NewToken{sameHash}},
		"token of nobody":        {NewTokens: []identity.NewToken{token("nobody", "n1")}},
		"unknown token":          {Tokens: []identity.Token{{ID: "n1", Revoked: epoch}}},
		"role that is not known": {Users: []identity.User{user("x", "root")}},
	} {
		c.Revision = revision
		c.Users = append([]identity.User{user("bob", policy.Admin), user("eve", policy.Admin)}, c.Users...)
		if _, err := s.Apply(t.Context(), c); err == nil || errors.Is(err, identity.ErrConflict) {
			t.Errorf("%s: got %v, want an error that is no conflict", name, err)
		}
		same(t, name, before, accounts(t, s, identity.Filter{}))
	}
}

func touch(t *testing.T, s identity.Store) {
	apply(t, s, identity.Change{Users: []identity.User{user("bob", policy.User)}, NewTokens: []identity.NewToken{token("bob", "b1"), token("bob", "b2")}})
	later := epoch.Add(time.Minute)
	revision, err := s.AddAccount(t.Context(), external("x", "1"))
	if err != nil {
		t.Fatal(err)
	}
	open(t, s, session("bob", "s1", epoch))
	for _, at := range []time.Time{epoch, later, epoch} {
		used := map[string]time.Time{"b1": at, "s1": at, "unknown": at}
		role := policy.User
		if at.Equal(later) {
			role = policy.Readonly
		}
		logins := map[string]identity.LoginSeen{"x": {At: at, Role: role}, "bob": {At: at, Role: policy.Admin}, "nobody": {At: at, Role: role}}
		if err := s.Touch(t.Context(), identity.Used{Tokens: used, Sessions: used, Logins: logins}); err != nil {
			t.Fatal(err)
		}
	}
	if now, err := s.Revision(t.Context()); err != nil || now != revision {
		t.Errorf("got revision %d, %v; want %d", now, err, revision)
	}
	apply(t, s, identity.Change{}) // makes what was noted before visible
	tokens := accounts(t, s, identity.Filter{})[0].Tokens
	if got := tokens[0].LastUsed; !got.Equal(later) {
		t.Errorf("got last use %s, want %s", got, later)
	}
	if got := tokens[1].LastUsed; !got.IsZero() {
		t.Errorf("got last use %s of an unused token", got)
	}
	if c, err := s.SessionByID(t.Context(), "s1"); err != nil || !c.Session.LastUsed.Equal(later) {
		t.Errorf("got last use %s of the session, %v; want %s", c.Session.LastUsed, err, later)
	}
	seen := external("x", "1")
	seen.LastLogin, seen.Role = later, policy.Readonly
	same(t, "external account", []identity.Account{{User: seen}}, accounts(t, s, identity.Filter{Name: "x"}))
	if bob := accounts(t, s, identity.Filter{Name: "bob"})[0]; bob.Role != policy.User || !bob.LastLogin.IsZero() {
		t.Errorf("got %+v: the login of an account of the service was noted", bob.User)
	}
}

func concurrent(t *testing.T, s identity.Store) {
	const workers, each = 4, 8
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range each {
				c := identity.Change{Users: []identity.User{user(fmt.Sprintf("u%d-%d", w, i), policy.User)}}
				for {
					var err error
					if c.Revision, err = s.Revision(t.Context()); err == nil {
						_, err = s.Apply(t.Context(), c)
					}
					if err == nil {
						break
					}
					if !errors.Is(err, identity.ErrConflict) {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	revision, err := s.Revision(t.Context())
	if n := len(accounts(t, s, identity.Filter{})); n != workers*each || revision != int64(n) || err != nil {
		t.Errorf("got %d users at revision %d, %v; want %d", n, revision, err, workers*each)
	}
}

func snapshot(t *testing.T, s identity.Store) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 50 {
			name := fmt.Sprintf("u%d", i)
			_, err := s.Apply(t.Context(), identity.Change{
				Revision: int64(i), Users: []identity.User{user(name, policy.User)}, NewTokens: []identity.NewToken{token(name, name)},
			})
			if err != nil {
				t.Error(err)
				return
			}
		}
	}()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		list, revision, err := s.Accounts(t.Context(), identity.Filter{})
		if err != nil || int64(len(list)) != revision {
			t.Fatalf("got %d users at revision %d, %v", len(list), revision, err)
		}
		for _, a := range list {
			if len(a.Tokens) != 1 {
				t.Fatalf("got user %s without the token of the same change", a.Name)
			}
		}
	}
}

func ended(t *testing.T, s identity.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, hashErr := s.ByHash(ctx, identity.Hash{})
	_, _, listErr := s.Accounts(ctx, identity.Filter{})
	_, applyErr := s.Apply(ctx, identity.Change{Users: []identity.User{user("bob", policy.User)}})
	for _, err := range []error{hashErr, listErr, applyErr} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
	}
	if n := len(accounts(t, s, identity.Filter{})); n != 0 {
		t.Errorf("got %d users from a change that was cancelled", n)
	}
}

func many(t *testing.T, s identity.Store) {
	const n = 2000
	var c identity.Change
	for i := range n {
		name := fmt.Sprintf("u%04d", n-1-i)
		c.Users = append(c.Users, user(name, policy.User))
		c.NewTokens = append(c.NewTokens, token(name, name))
	}
	apply(t, s, c)
	list := accounts(t, s, identity.Filter{})
	if len(list) != n {
		t.Fatalf("got %d users, want %d", len(list), n)
	}
	for i, a := range list {
		if want := fmt.Sprintf("u%04d", i); a.Name != want || len(a.Tokens) != 1 || a.Tokens[0].ID != want {
			t.Fatalf("got %+v at %d, want %s with its token", a, i, want)
		}
	}
}

func oldTokens(t *testing.T, s identity.Store) {
	gone, off, old := user("gone", policy.User), user("off", policy.User), user("old", policy.User)
	gone.Removed, off.Disabled, old.Expires = epoch, true, epoch.Add(time.Hour)
	made := func(user, id string, ago time.Duration, change func(*identity.Token)) identity.NewToken {
		x := token(user, id)
		x.Created = epoch.Add(-ago)
		change(&x.Token)
		return x
	}
	as := func(*identity.Token) {}
	apply(t, s, identity.Change{
		Users: []identity.User{user("bob", policy.User), gone, off, old},
		NewTokens: []identity.NewToken{
			made("bob", "b1", 2*time.Hour, as), made("bob", "b2", 3*time.Hour, as), made("bob", "new", time.Minute, as),
			made("bob", "b3", 4*time.Hour, func(x *identity.Token) { x.Revoked = epoch }),
			made("bob", "b4", 4*time.Hour, func(x *identity.Token) { x.Expires = epoch.Add(time.Hour) }),
			made("gone", "g1", 2*time.Hour, as), made("off", "o1", 2*time.Hour, as), made("old", "d1", 5*time.Hour, as),
		},
	})
	for _, tt := range []struct {
		then  time.Time
		limit int
		want  []string
	}{
		{epoch, 9, []string{"d1", "b4", "b2", "b1"}},
		{epoch, 2, []string{"d1", "b4"}},
		{epoch.Add(time.Hour), 9, []string{"b2", "b1"}},
	} {
		list, err := s.OldTokens(t.Context(), epoch.Add(-time.Hour), tt.then, tt.limit)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, x := range list {
			got = append(got, x.ID)
		}
		same(t, fmt.Sprintf("at %s, limit %d", tt.then, tt.limit), tt.want, got)
	}
}
