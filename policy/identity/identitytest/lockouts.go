package identitytest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/policy/identity"
)

func lockout(user, address string, from, to time.Duration, times int) identity.Lockout {
	return identity.Lockout{User: user, Address: address, Since: epoch.Add(from), Until: epoch.Add(to), Times: times}
}

func putLockouts(t *testing.T, s identity.Store, list ...identity.Lockout) {
	t.Helper()
	for _, l := range list {
		if err := s.PutLockout(t.Context(), l, epoch.Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
}

func standing(t *testing.T, s identity.Store, user, address string) identity.Standing {
	t.Helper()
	st, err := s.Standing(t.Context(), user, address)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func lockouts(t *testing.T, s identity.Store) {
	if st := standing(t, s, "bob", "192.0.2.1"); len(st.Lockouts) != 0 || !st.Familiar.IsZero() {
		t.Errorf("got %+v of an empty store", st)
	}
	both := lockout("bob", "192.0.2.1", 0, time.Hour, 1)
	user := lockout("bob", "", 0, 2*time.Hour, 2)
	address := lockout("", "192.0.2.1", 0, time.Minute, 1)
	elsewhere := lockout("bob", "192.0.2.2", 0, time.Hour, 1)
	other := lockout("eve", "192.0.2.1", 0, time.Hour, 1)
	putLockouts(t, s, both, user, address, elsewhere, other)
	if d := cmp.Diff([]identity.Lockout{address, user, both}, standing(t, s, "bob", "192.0.2.1").Lockouts); d != "" {
		t.Errorf("of bob at 192.0.2.1 (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]identity.Lockout{user}, standing(t, s, "bob", "192.0.2.9").Lockouts); d != "" {
		t.Errorf("of bob elsewhere (-want +got):\n%s", d)
	}
	list, err := s.Lockouts(t.Context(), epoch.Add(time.Minute)) // the end does not belong to it
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]identity.Lockout{user, both, elsewhere, other}, list); d != "" {
		t.Errorf("those that last (-want +got):\n%s", d)
	}

	again := lockout("bob", "192.0.2.1", time.Hour, 3*time.Hour, 2)
	if err := s.PutLockout(t.Context(), again, epoch.Add(90*time.Minute)); err != nil {
		t.Fatal(err)
	}
	if list, err = s.Lockouts(t.Context(), time.Time{}.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]identity.Lockout{user, again}, list); d != "" {
		t.Errorf("after one was replaced and old ones dropped (-want +got):\n%s", d)
	}
	if err := s.RemoveLockouts(t.Context(), user, elsewhere); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]identity.Lockout{again}, standing(t, s, "bob", "192.0.2.1").Lockouts); d != "" {
		t.Errorf("after one was removed (-want +got):\n%s", d)
	}
	if revision, err := s.Revision(t.Context()); err != nil || revision != 0 {
		t.Errorf("got revision %d, %v: lockouts are no change", revision, err)
	}
}

func familiar(t *testing.T, s identity.Store) {
	note := func(user, address string, at, forget time.Duration) {
		t.Helper()
		if err := s.NoteFamiliar(t.Context(), user, address, epoch.Add(at), epoch.Add(forget)); err != nil {
			t.Fatal(err)
		}
	}
	check := func(user, address string, want time.Time) {
		t.Helper()
		if got := standing(t, s, user, address).Familiar; !got.Equal(want) {
			t.Errorf("%s at %s: got %s, want %s", user, address, got, want)
		}
	}
	known := func(who string, want bool) {
		t.Helper()
		last, got, err := s.Familiar(t.Context(), who, "192.0.2.3")
		if err != nil || got != want || !last.IsZero() {
			t.Errorf("%s: got %s, %v, %v; want known %v and not there", who, last, got, err, want)
		}
	}
	known("bob", false)
	note("bob", "192.0.2.1", time.Hour, 0)
	known("bob", true)
	known("eve", false)
	note("bob", "192.0.2.1", 0, 0) // never moves back
	note("bob", "192.0.2.2", 3*time.Hour, 0)
	check("bob", "192.0.2.1", epoch.Add(time.Hour))
	check("bob", "192.0.2.2", epoch.Add(3*time.Hour))
	check("bob", "192.0.2.3", time.Time{})
	check("eve", "192.0.2.1", time.Time{})
	note("eve", "192.0.2.1", 4*time.Hour, 2*time.Hour)
	check("bob", "192.0.2.1", time.Time{})
	check("bob", "192.0.2.2", epoch.Add(3*time.Hour))
}
