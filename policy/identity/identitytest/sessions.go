package identitytest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

func external(name, subject string) identity.User {
	return identity.User{Name: name, Role: policy.User, Created: epoch, Link: identity.Link{Source: "ldap", Subject: subject}}
}

// session is one of the user that begins at the time and lasts for an hour.
func session(user, id string, created time.Time) identity.StoredSession {
	x := identity.StoredSession{
		Session: identity.Session{
			ID: id, User: user, Kind: identity.WebSession, Source: "ldap", Created: created, Expires: created.Add(time.Hour),
		},
		Role: policy.User, Issued: created,
	}
	copy(x.Hash[:], id)
	return x
}

func open(t *testing.T, s identity.Store, x identity.StoredSession) int64 {
	t.Helper()
	revision, err := s.OpenSession(t.Context(), x, 100)
	if err != nil {
		t.Fatal(err)
	}
	return revision
}

// ids of the sessions that the filter selects.
func ids(t *testing.T, s identity.Store, f identity.SessionFilter, then time.Time) []string {
	t.Helper()
	list, err := s.Sessions(t.Context(), f, then)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for i := range list {
		ids = append(ids, list[i].ID)
	}
	return ids
}

func addAccount(t *testing.T, s identity.Store) {
	before := apply(t, s, identity.Change{Users: []identity.User{user("bob", policy.Admin)}})
	revision, err := s.AddAccount(t.Context(), external("eve", "1"))
	if err != nil || revision != before {
		t.Fatalf("got revision %d, %v; want %d: nothing that was known is untrue now", revision, err, before)
	}
	taken := identity.Change{Revision: before, Users: []identity.User{user("eve", policy.Admin)}}
	if _, err := s.Apply(t.Context(), taken); !errors.Is(err, identity.ErrUserExists) {
		t.Errorf("a change that was decided on before there was the account: got %v, want ErrUserExists", err)
	}
	all := accounts(t, s, identity.Filter{})
	for name, u := range map[string]identity.User{
		"name of a local account":   external("bob", "2"),
		"the same in capitals":      external("BOB", "2"),
		"capitals of an external":   external("Eve", "2"),
		"name of an external one":   external("eve", "2"),
		"the same again":            external("eve", "1"),
		"another name for the link": external("mallory", "1"),
	} {
		if _, err := s.AddAccount(t.Context(), u); !errors.Is(err, identity.ErrConflict) {
			t.Errorf("%s: got %v, want ErrConflict", name, err)
		}
	}
	same(t, "accounts", all, accounts(t, s, identity.Filter{}))
	if now, err := s.Revision(t.Context()); err != nil || now != revision {
		t.Errorf("got revision %d, %v; want %d", now, err, revision)
	}
	for i, link := range []identity.Link{{Source: "oidc", Subject: "1"}, {Source: "ldap", Issuer: "i", Subject: "1"}} {
		u := external(fmt.Sprintf("u%d", i), "")
		u.Link = link
		if _, err := s.AddAccount(t.Context(), u); err != nil {
			t.Errorf("%+v: %v", link, err)
		}
	}
}

func comeBack(t *testing.T, s identity.Store) {
	eve, bob := external("eve", "1"), user("bob", policy.User)
	eve.Removed, eve.ValidAfter, bob.Removed = epoch, epoch, epoch
	apply(t, s, identity.Change{Users: []identity.User{eve, bob}})
	for name, u := range map[string]identity.User{"eve": external("eve", "2"), "bob": external("bob", "3")} {
		if _, err := s.AddAccount(t.Context(), u); !errors.Is(err, identity.ErrConflict) {
			t.Errorf("%s: got %v, want ErrConflict: the name is another's", name, err)
		}
	}
	again := external("eve", "1")
	again.Role, again.Created = policy.Readonly, epoch.Add(time.Hour)
	was, err := s.Revision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if revision, err := s.AddAccount(t.Context(), again); err != nil || revision != was+1 {
		t.Fatalf("got revision %d, %v; want %d: the account is not removed any more", revision, err, was+1)
	}
	again.ValidAfter = epoch // what was from before stays revoked
	if _, err := s.AddAccount(t.Context(), external("EVE", "4")); !errors.Is(err, identity.ErrConflict) {
		t.Errorf("name of a removed account, in capitals: got %v, want ErrConflict", err)
	}
	anew := user("bob", policy.Admin)
	anew.Created = epoch.Add(2 * time.Hour)
	apply(t, s, identity.Change{Users: []identity.User{anew}})
	same(t, "accounts", []identity.Account{{User: anew}, {User: again}}, accounts(t, s, identity.Filter{}))
}

func sessions(t *testing.T, s identity.Store) {
	bob := user("bob", policy.User)
	before := apply(t, s, identity.Change{Users: []identity.User{bob}, NewTokens: []identity.NewToken{token("bob", "b1")}})
	full := session("bob", "s1", epoch)
	full.Kind, full.Source, full.TokenID, full.Address, full.Agent = identity.APISession, "token", "b1", "192.0.2.1", "curl"
	full.Groups = []string{"a", "b,c", `d"`}
	full.Upstream = identity.SealedUpstream{Issuer: "i", Subject: "s", SID: "x", Due: epoch.Add(time.Minute), Secrets: []byte{0, 1, 2}}
	plain := session("bob", "s2", epoch)
	for _, x := range []identity.StoredSession{full, plain} {
		if revision := open(t, s, x); revision != before {
			t.Errorf("got revision %d, want %d: nothing has to be forgotten", revision, before)
		}
	}
	for _, want := range []identity.Credential{
		{Session: full, Token: token("bob", "b1").Token, User: bob, Revision: before},
		{Session: plain, User: bob, Revision: before},
	} {
		got, err := s.SessionByHash(t.Context(), want.Session.Hash)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "by hash", want, got)
		if got, err = s.SessionByID(t.Context(), want.Session.ID); err != nil {
			t.Fatal(err)
		}
		same(t, "by id", want, got)
	}
	list, err := s.Sessions(t.Context(), identity.SessionFilter{}, epoch)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "list", []identity.StoredSession{full, plain}, list)
	_, byHash := s.SessionByHash(t.Context(), identity.Hash{9})
	_, byID := s.SessionByID(t.Context(), "s9")
	for _, err := range []error{byHash, byID} {
		if !errors.Is(err, identity.ErrNotFound) {
			t.Errorf("got %v, want ErrNotFound", err)
		}
	}
	sameID, sameHash, stray, orphan := full, full, session("nobody", "s4", epoch), session("bob", "s5", epoch)
	sameID.Hash[31], sameHash.ID, orphan.TokenID = 1, "s3", "b9"
	for name, x := range map[string]identity.StoredSession{
		"id that exists": sameID, "hash that exists": sameHash, "of nobody": stray, "of no token": orphan,
	} {
		if _, err := s.OpenSession(t.Context(), x, 100); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
}

func listed(t *testing.T, s identity.Store) {
	bob, eve, gone, off, old, cut := user("bob", policy.User), user("eve", policy.User), user("gone", policy.User),
		user("off", policy.User), user("old", policy.User), user("cut", policy.User)
	gone.Removed, off.Disabled, old.Expires, cut.ValidAfter = epoch, true, epoch.Add(time.Minute), epoch.Add(time.Second)
	revoked, short := token("bob", "b1"), token("bob", "b2")
	revoked.Revoked, short.Expires = epoch, epoch.Add(time.Minute)
	apply(t, s, identity.Change{
		Users: []identity.User{bob, eve, gone, off, old, cut}, NewTokens: []identity.NewToken{revoked, short},
	})
	upstream := func(x identity.StoredSession, subject, sid string) identity.StoredSession {
		x.Upstream = identity.SealedUpstream{Issuer: "i", Subject: subject, SID: sid}
		return x
	}
	byToken := func(id, token string) identity.StoredSession {
		x := session("bob", id, epoch.Add(3*time.Second))
		x.TokenID = token
		return x
	}
	for _, x := range []identity.StoredSession{
		session("gone", "g", epoch), session("off", "f", epoch), session("old", "o", epoch), session("cut", "c", epoch),
		session("cut", "d", epoch.Add(time.Second)), byToken("r", "b1"), byToken("s", "b2"),
		session("bob", "2", epoch.Add(time.Second)), session("bob", "1", epoch),
		upstream(session("eve", "3", epoch), "1", "x"), upstream(session("eve", "4", epoch), "1", "y"), upstream(session("eve", "5", epoch), "2", ""),
	} {
		open(t, s, x)
	}
	soon, later := epoch.Add(30*time.Second), epoch.Add(time.Minute)
	for _, tt := range []struct {
		f    identity.SessionFilter
		then time.Time
		want []string
	}{
		{identity.SessionFilter{}, soon, []string{"1", "2", "s", "d", "3", "4", "5", "o"}},
		{identity.SessionFilter{}, later, []string{"1", "2", "d", "3", "4", "5"}},
		{identity.SessionFilter{}, epoch.Add(time.Hour), []string{"2", "d"}},
		{identity.SessionFilter{User: "bob"}, later, []string{"1", "2"}},
		{identity.SessionFilter{User: "nobody"}, later, nil},
		{identity.SessionFilter{Issuer: "i"}, later, []string{"3", "4", "5"}},
		{identity.SessionFilter{Issuer: "i", Subject: "1"}, later, []string{"3", "4"}},
		{identity.SessionFilter{Issuer: "i", SID: "y"}, later, []string{"4"}},
		{identity.SessionFilter{Issuer: "i", Subject: "2", SID: "y"}, later, nil},
		{identity.SessionFilter{Issuer: "j", SID: "y"}, later, nil},
		{identity.SessionFilter{Issuer: "i", User: "bob"}, later, nil},
	} {
		same(t, fmt.Sprintf("%+v at %s", tt.f, tt.then), tt.want, ids(t, s, tt.f, tt.then))
	}
}

func tooMany(t *testing.T, s identity.Store) {
	before := apply(t, s, identity.Change{Users: []identity.User{user("bob", policy.User), user("eve", policy.User)}})
	open(t, s, session("eve", "e", epoch))
	at := func(i int) time.Time { return epoch.Add(time.Duration(i) * 20 * time.Minute) }
	for i, want := range []int64{before, before, before + 1, before + 2, before + 3} {
		revision, err := s.OpenSession(t.Context(), session("bob", fmt.Sprint(i), at(i)), 2)
		if err != nil || revision != want {
			t.Errorf("session %d: got revision %d, %v; want %d", i, revision, err, want)
		}
	}
	same(t, "left", []string{"3", "4"}, ids(t, s, identity.SessionFilter{User: "bob"}, at(4)))
	same(t, "another's", []string{"e"}, ids(t, s, identity.SessionFilter{User: "eve"}, epoch))
	if c, err := s.SessionByID(t.Context(), "2"); err != nil || !c.Session.Ended.Equal(at(4)) {
		t.Errorf("got end %s, %v; want %s", c.Session.Ended, err, at(4))
	}
}

func renew(t *testing.T, s identity.Store) {
	before := apply(t, s, identity.Change{Users: []identity.User{user("bob", policy.User)}})
	x := session("bob", "s1", epoch)
	open(t, s, x)
	x.Upstream = identity.SealedUpstream{Issuer: "i", Subject: "s", SID: "x", Due: epoch.Add(time.Minute), Secrets: []byte("a")}
	renewed := func(what string, want int64) {
		t.Helper()
		revision, err := s.RenewSession(t.Context(), x)
		if err != nil || revision != want {
			t.Errorf("%s: got revision %d, %v; want %d", what, revision, err, want)
		}
		c, err := s.SessionByID(t.Context(), "s1")
		if err != nil {
			t.Fatal(err)
		}
		same(t, what, x, c.Session)
	}
	renewed("upstream", before)
	x.Role = policy.Readonly
	renewed("role", before+1)
	x.Groups = []string{"g"}
	renewed("groups", before+2)
	x.Upstream.Secrets = []byte("b")
	renewed("secrets", before+2)
	apply(t, s, identity.Change{Sessions: []identity.EndedSession{{ID: "s1", Ended: epoch}}})
	unknown := session("bob", "s2", epoch)
	for _, x := range []identity.StoredSession{x, unknown} {
		if _, err := s.RenewSession(t.Context(), x); !errors.Is(err, identity.ErrNotFound) {
			t.Errorf("%s: got %v, want ErrNotFound", x.ID, err)
		}
	}
}

func endSessions(t *testing.T, s identity.Store) {
	apply(t, s, identity.Change{Users: []identity.User{user("bob", policy.User)}})
	for _, id := range []string{"s1", "s2", "s3"} {
		open(t, s, session("bob", id, epoch))
	}
	end := func(at time.Time, ended ...string) {
		var c identity.Change
		for _, id := range ended {
			c.Sessions = append(c.Sessions, identity.EndedSession{ID: id, Ended: at})
		}
		apply(t, s, c)
	}
	end(epoch.Add(time.Minute), "s1", "unknown")
	end(epoch.Add(time.Hour), "s1", "s3")
	same(t, "left", []string{"s2"}, ids(t, s, identity.SessionFilter{}, epoch))
	for id, want := range map[string]time.Time{"s1": epoch.Add(time.Minute), "s2": {}, "s3": epoch.Add(time.Hour)} {
		if c, err := s.SessionByID(t.Context(), id); err != nil || !c.Session.Ended.Equal(want) {
			t.Errorf("%s: got end %s, %v; want %s", id, c.Session.Ended, err, want)
		}
	}
}

func prune(t *testing.T, s identity.Store) {
	before := apply(t, s, identity.Change{Users: []identity.User{user("bob", policy.User)}})
	for _, id := range []string{"a", "b", "c"} {
		open(t, s, session("bob", id, epoch))
	}
	later := session("bob", "d", epoch.Add(time.Minute))
	open(t, s, later)
	revision := apply(t, s, identity.Change{Revision: before, Sessions: []identity.EndedSession{{ID: "a", Ended: epoch.Add(time.Minute)}}})
	for _, tt := range []struct {
		then time.Time
		left []string
	}{
		{epoch.Add(time.Minute), []string{"a", "b", "c", "d"}},
		{epoch.Add(2 * time.Minute), []string{"b", "c", "d"}},
		{epoch.Add(time.Hour + time.Second), []string{"d"}},
	} {
		if err := s.PruneSessions(t.Context(), tt.then); err != nil {
			t.Fatal(err)
		}
		if now, err := s.Revision(t.Context()); err != nil || now != revision {
			t.Errorf("got revision %d, %v; want %d", now, err, revision)
		}
		apply(t, s, identity.Change{}) // makes it visible
		revision++
		var left []string
		for _, id := range []string{"a", "b", "c", "d"} {
			if _, err := s.SessionByID(t.Context(), id); err == nil {
				left = append(left, id)
			} else if !errors.Is(err, identity.ErrNotFound) {
				t.Fatal(err)
			}
		}
		if !slices.Equal(left, tt.left) {
			t.Errorf("at %s: got %q, want %q", tt.then, left, tt.left)
		}
	}
}
