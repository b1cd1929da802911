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
