package identitytest

import (
	"fmt"
	"testing"
	"time"

	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

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
