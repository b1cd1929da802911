package identitytest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

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
