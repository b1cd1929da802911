package identity_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
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

// people is a directory that knows bob and alice, under every spelling of their names, as a directory does. It
// counts what it is asked.
type people struct {
	mu    sync.Mutex
	asked int
	err   error                            // instead of an answer
	wait  func(ctx context.Context, n int) // before the answer to the nth question
	role  map[string]policy.Role           // default user
}

const right = "correct horse battery"

func (d *people) Authenticate(ctx context.Context, user, password string) (identity.External, error) {
	d.mu.Lock()
	d.asked++
	n, err, wait := d.asked, d.err, d.wait
	d.mu.Unlock()
	if wait != nil {
		wait(ctx, n)
	}
	name := identity.FoldName(user)
	if err == nil && (password != right || name != "bob" && name != "alice") {
		err = identity.ErrCredentials
	}
	role, ok := d.role[name]
	if !ok {
		role = policy.User
	}
	if err == nil && role == "" {
		err = identity.ErrNoRole
	}
	if err != nil {
		return identity.External{}, err
	}
	return identity.External{Source: policy.SourceLDAP, Subject: "id of " + name, Name: name, Role: role, Groups: []string{"staff"}}, nil
}

func (d *people) Lookup(_ context.Context, subject string) (identity.External, error) {
	return identity.External{}, errors.ErrUnsupported
}

func (d *people) questions() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.asked
}

// door is a service with passwords in front of a directory.
type door struct {
	*rig
	dir *people
	identity.Passwords
}

func newDoor(t *testing.T) *door { return newDoorAt(t, filepath.Join(t.TempDir(), "identity.db")) }

func newDoorAt(t *testing.T, path string) *door {
	r, d := newRigAt(t, path), &people{}
	return &door{r, d, identity.Passwords{Service: r.Service, Directory: d}}
}

// try returns "yes", or the code of the refusal with the time to wait.
func (d *door) try(t *testing.T, user, password, address string) string {
	t.Helper()
	p, err := d.Check(t.Context(), user, password, address)
	if err == nil {
		if p.User == "" || p.Address != address || p.Source != policy.SourceLDAP {
			t.Errorf("got %+v", p)
		}
		return "yes"
	}
	refused, ok := errors.AsType[*identity.Refused](err)
	if !ok {
		t.Fatal(err)
	}
	if p.User != "" {
		t.Errorf("got %+v with %v", p, err)
	}
	if refused.RetryAfter != 0 {
		return fmt.Sprint(refused.Code, " ", refused.RetryAfter.Round(time.Second))
	}
	return refused.Code
}

// exhaust fails until there is a lockout, waiting where it must, and returns how many guesses
// the directory was asked.
func (d *door) exhaust(t *testing.T, user, address string) int {
	t.Helper()
	before := d.dir.questions()
	for range 1000 {
		_, err := d.Check(t.Context(), user, "guess", address)
		refused, ok := errors.AsType[*identity.Refused](err)
		switch {
		case !ok:
			t.Fatal(err)
		case refused.RetryAfter >= 15*time.Minute-time.Second:
			return d.dir.questions() - before
		default:
			time.Sleep(refused.RetryAfter)
		}
	}
	t.Fatal("there is no end to it")
	return 0
}

const (
	home  = "192.0.2.1"
	away  = "198.51.100.7"
	wrong = "credentials_wrong"
)

func TestGrowingDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		for range 3 {
			if got := d.try(t, "bob", "guess", home); got != wrong {
				t.Fatalf("got %s, want %s", got, wrong)
			}
		}
		for i := range 6 {
			if got := d.try(t, "bob", "guess", home); got != wrong {
				t.Fatalf("failure %d: got %s, want %s", i+4, got, wrong)
			}
			// The right password is not tried either, nor does it cost anything.
			wait := time.Second << i
			time.Sleep(wait - 300*time.Millisecond - time.Nanosecond) // the answer took 300 ms
			asked := d.dir.questions()
			if got, want := d.try(t, "bob", right, home), "too_many_failures 0s"; got != want {
				t.Errorf("just before the end of %s: got %s, want %s", wait, got, want)
			}
			if d.dir.questions() != asked {
				t.Error("the directory was asked meanwhile")
			}
			time.Sleep(time.Nanosecond)
		}
		if got := d.try(t, "bob", "guess", home); got != wrong {
			t.Fatalf("failure 10: got %s, want %s", got, wrong)
		}
		if got, want := d.try(t, "bob", right, home), "too_many_failures 15m0s"; got != want {
			t.Errorf("after 10 failures: got %s, want %s", got, want)
		}
		if got := d.try(t, "bob", right, away); got != "yes" {
			t.Errorf("from elsewhere: got %s", got)
		}
		if got := d.try(t, "alice", right, home); got != "yes" {
			t.Errorf("somebody else: got %s", got)
		}
		time.Sleep(15 * time.Minute)
		if got := d.try(t, "bob", right, home); got != "yes" {
			t.Errorf("after the lockout: got %s", got)
		}
	})
}

func TestSuccessGivesFailuresBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		for range 5 {
			for range 3 {
				d.try(t, "bob", "guess", home)
			}
			if got := d.try(t, "bob", right, home); got != "yes" {
				t.Fatalf("got %s", got)
			}
		}
		if got := d.exhaust(t, "bob", home); got != 10 {
			t.Errorf("got a lockout after %d failures, want 10", got)
		}
	})
}

func TestLockoutsGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		want := []time.Duration{15, 30, 60, 120, 240, 480, 960, 1440, 1440}
		for i, minutes := range want {
			d.exhaust(t, "bob", home)
			list, err := d.Lockouts(t.Context())
			if err != nil || len(list) != 1 {
				t.Fatalf("got %v, %v", list, err)
			}
			if got := list[0].Until.Sub(list[0].Since); got != minutes*time.Minute || list[0].Times != i+1 {
				t.Errorf("lockout %d: got %+v, want %d minutes", i+1, list[0], minutes)
			}
			time.Sleep(time.Until(list[0].Until))
		}
		time.Sleep(24*time.Hour + time.Second)
		d.exhaust(t, "bob", home)
		if list, err := d.Lockouts(t.Context()); err != nil || len(list) != 1 || list[0].Times != 1 {
			t.Errorf("a day later: got %v, %v; want the first again", list, err)
		}
	})
}

// Nothing tells whether there is such a user: not the answers, not the time they take, not the
// lockouts.
func TestUnknownUsersLookLikeOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		d.dir.wait = func(_ context.Context, n int) { time.Sleep(time.Duration(n%7) * 20 * time.Millisecond) }
		var seen [2][]string
		for i, user := range []string{"bob", "nobody"} {
			for range 12 {
				begun := time.Now()
				_, err := d.Check(t.Context(), user, "guess", home)
				refused, ok := errors.AsType[*identity.Refused](err)
				if !ok {
					t.Fatal(err)
				}
				seen[i] = append(seen[i], fmt.Sprint(time.Since(begun), refused))
				time.Sleep(refused.RetryAfter)
			}
		}
		if d := cmp.Diff(seen[0], seen[1]); d != "" {
			t.Errorf("bob and nobody differ (-bob +nobody):\n%s", d)
		}
	})
}

func TestSpellingsShareFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		spellings := []string{"bob", "BOB", "Bob ", "b\u00adob", "ｂｏｂ", "bo\u0301b", "bOb", "\u200bbob", "𝐛𝐨𝐛", "BÖB"}
		for i := range 10 {
			time.Sleep(time.Minute)
			if got := d.try(t, spellings[i], "guess", home); got != wrong {
				t.Fatalf("%q: got %s, want %s", spellings[i], got, wrong)
			}
		}
		if got := d.try(t, "boB", right, home); !strings.HasPrefix(got, "too_many_failures") {
			t.Errorf("got %s after 10 failures in 10 spellings", got)
		}
	})
}

// Whoever has an IPv6 network of 64 bits has as many addresses as they like.
func TestAddressesOfANetworkShareFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		for i := range 10 {
			time.Sleep(time.Minute)
			if got := d.try(t, "bob", "guess", fmt.Sprintf("2001:db8::%x:1", i)); got != wrong {
				t.Fatalf("guess %d: got %s, want %s", i, got, wrong)
			}
		}
		if got := d.try(t, "bob", right, "2001:db8::ffff:2"); !strings.HasPrefix(got, "too_many_failures") {
			t.Errorf("got %s after 10 failures from one network", got)
		}
		if got := d.try(t, "bob", right, "2001:db8:0:1::1"); got != "yes" {
			t.Errorf("from another network: got %s", got)
		}
	})
}

// Guesses from everywhere end in a lockout that those who know the password do not notice where
// they are at home.
func TestGuessesFromEverywhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		if got := d.try(t, "bob", right, home); got != "yes" {
			t.Fatal(got)
		}
		for i := range 100 {
			if got := d.try(t, "bob", "guess", fmt.Sprintf("203.0.113.%d", i)); got != wrong {
				t.Fatalf("guess %d: got %s, want %s", i, got, wrong)
			}
		}
		for i := range 100 {
			if got := d.try(t, "bob", right, fmt.Sprintf("203.0.113.%d", i)); !strings.HasPrefix(got, "too_many_failures") {
				t.Fatalf("address %d: got %s", i, got)
			}
		}
		if got := d.try(t, "bob", right, away); !strings.HasPrefix(got, "too_many_failures") {
			t.Errorf("from an address of which nothing is known: got %s", got)
		}
		for range 3 {
			if got := d.try(t, "bob", right, home); got != "yes" {
				t.Errorf("at home: got %s", got)
			}
			d.try(t, "bob", "mistyped", home)
		}
		if got := d.try(t, "alice", right, away); got != "yes" {
			t.Errorf("somebody else: got %s", got)
		}
	})
}

// The user's own successes give back failures, but not for ever: who sits behind the same address
// does not get to guess for nothing.
func TestGuessesBesideSuccesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		guesses := 0
		for range 1000 {
			if got := d.try(t, "bob", "guess", home); got == wrong {
				guesses++
			}
			d.try(t, "bob", right, home)
			time.Sleep(time.Second)
		}
		if guesses < 100 || guesses > 110 {
			t.Errorf("got %d guesses beside the user's own logins, want about 100", guesses)
		}
	})
}

func TestOneAddressTriesManyUsers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		for i := range 100 {
			if got := d.try(t, fmt.Sprint("user", i), "Summer2026!", home); got != wrong {
				t.Fatalf("user %d: got %s, want %s", i, got, wrong)
			}
		}
		if got := d.try(t, "bob", right, home); !strings.HasPrefix(got, "too_many_failures") {
			t.Errorf("got %s after 100 failures from the address", got)
		}
		if got := d.try(t, "bob", right, away); got != "yes" {
			t.Errorf("from elsewhere: got %s", got)
		}
		want := []identity.Lockout{{Address: home, Times: 1}}
		list, err := d.Lockouts(t.Context())
		if err != nil || len(list) != 1 || list[0].Until.Sub(list[0].Since) != 15*time.Minute {
			t.Fatalf("got %v, %v; want %v", list, err, want)
		}
	})
}

// Guesses that are sent at once are no more than guesses that are sent one after the other.
func TestGuessesSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		d.dir.wait = func(context.Context, int) { time.Sleep(50 * time.Millisecond) }
		var wg sync.WaitGroup
		for i := range 500 {
			wg.Go(func() { _, _ = d.Check(t.Context(), "bob", fmt.Sprint("guess", i), home) })
		}
		wg.Wait()
		if got := d.dir.questions(); got != 4 {
			t.Errorf("500 guesses at once: the directory was asked %d times, want 4", got)
		}
	})
}

// A flood does not reach the directory with more than a few questions at a time.
func TestFewQuestionsAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		var now, most int
		d.dir.wait = func(context.Context, int) {
			d.dir.mu.Lock()
			now++
			most = max(most, now)
			d.dir.mu.Unlock()
			time.Sleep(50 * time.Millisecond)
			d.dir.mu.Lock()
			now--
			d.dir.mu.Unlock()
		}
		var wg sync.WaitGroup
		for i := range 300 {
			wg.Go(func() { _, _ = d.Check(t.Context(), fmt.Sprint("user", i), "guess", home) })
		}
		wg.Wait()
		if most > 32 || d.dir.questions() > 100+32 {
			t.Errorf("got %d questions, up to %d at a time; want about 100 and at most 32", d.dir.questions(), most)
		}
	})
}

// Hanging up before the answer does not save the attempt.
func TestHangingUpCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		for range 10 {
			ctx, hangUp := context.WithCancel(t.Context())
			d.dir.wait = func(ctx context.Context, _ int) { hangUp() }
			_, err := d.Check(ctx, "bob", "guess", home)
			if refused, ok := errors.AsType[*identity.Refused](err); !ok || refused.Code != wrong {
				t.Fatalf("got %v, want %s", err, wrong)
			}
			time.Sleep(time.Minute)
		}
		d.dir.wait = nil
		if got := d.try(t, "bob", right, home); !strings.HasPrefix(got, "too_many_failures") {
			t.Errorf("got %s after 10 failures", got)
		}
	})
}

func TestLockoutsSurviveARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "identity.db")
		newDoorAt(t, path).exhaust(t, "bob", home)
		d := newDoorAt(t, path)
		if got := d.try(t, "bob", right, home); !strings.HasPrefix(got, "too_many_failures") {
			t.Errorf("got %s after a restart", got)
		}
	})
}

func TestUnlock(t *testing.T) {
	lockAll := func(t *testing.T) *door {
		d := newDoor(t)
		d.exhaust(t, "Bob", home)
		d.exhaust(t, "bob", "2001:db8::1")
		for i := range 90 {
			d.try(t, fmt.Sprint("user", i), "guess", home)
		}
		return d
	}
	for name, tt := range map[string]struct {
		who             string
		want            []string
		bobThere, alice string // at home afterwards
	}{
		"a user":              {"BOB", []string{"bob 192.0.2.1", "bob 2001:db8::/64"}, "yes", "too_many_failures"},
		"an address":          {home, []string{" 192.0.2.1"}, "too_many_failures", "yes"},
		"nobody":              {"carol", nil, "too_many_failures", "too_many_failures"},
		"an address in there": {"192.0.2.2", nil, "too_many_failures", "too_many_failures"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := lockAll(t)
				list, err := d.Unlock(t.Context(), boss, tt.who)
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, l := range list {
					got = append(got, l.User+" "+l.Address)
				}
				if d := cmp.Diff(tt.want, got); d != "" {
					t.Errorf("unlocked (-want +got):\n%s", d)
				}
				if tt.who == "BOB" { // the address is still locked
					if _, err := d.Unlock(t.Context(), boss, home); err != nil {
						t.Fatal(err)
					}
				} else if got := d.try(t, "alice", right, home); !strings.HasPrefix(got, tt.alice) {
					t.Errorf("alice: got %s, want %s", got, tt.alice)
				}
				if got := d.try(t, "bob", right, home); !strings.HasPrefix(got, tt.bobThere) {
					t.Errorf("bob: got %s, want %s", got, tt.bobThere)
				}
			})
		})
	}
}

func TestUnlockIsForAdminsAndOnRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		d.exhaust(t, "bob", home)
		d.log.recorded, d.log.queued = nil, nil
		for _, role := range []policy.Role{policy.User, policy.Readonly, ""} {
			_, err := d.Unlock(t.Context(), policy.Principal{User: "eve", Role: role}, "bob")
			if !errors.Is(err, identity.ErrForbidden) {
				t.Errorf("role %q: got %v, want ErrForbidden", role, err)
			}
		}
		d.log.fail = errors.New("disk full")
		if _, err := d.Unlock(t.Context(), boss, "bob"); err == nil {
			t.Error("unlocked without a record")
		}
		if got := d.try(t, "bob", right, home); !strings.HasPrefix(got, "too_many_failures") {
			t.Errorf("got %s after a change that was not recorded", got)
		}
		d.log.fail = nil
		if _, err := d.Unlock(t.Context(), boss, "bob"); err != nil {
			t.Fatal(err)
		}
		last := d.log.recorded[len(d.log.recorded)-1]
		if last.Type != audit.Admin || last.Action != "unlock" || last.User != boss.User || last.Status != "started" ||
			!strings.Contains(last.Input, `"user":"bob","before":[{"user":"bob","address":"192.0.2.1"`) {
			t.Errorf("recorded %+v", last)
		}
	})
}

func TestFailuresAreOnRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		d.dir.role = map[string]policy.Role{"alice": ""}
		d.exhaust(t, "BOB", home)
		d.try(t, "alice", right, away)
		d.try(t, "", "x", away)
		d.try(t, "bob", "", away)
		var got []string
		for _, e := range d.log.queued {
			got = append(got, strings.Join(append([]string{e.Type, e.Action, e.User, e.Address, e.Status}, e.Reasons...), " "))
		}
		want := slices.Repeat([]string{"login.failed ldap bob 192.0.2.1 denied wrong_credentials"}, 10)
		want = append(want,
			"login.failed ldap alice 198.51.100.7 denied no_role",
			"login.failed ldap  198.51.100.7 denied wrong_credentials",
			"login.failed ldap bob 198.51.100.7 denied wrong_credentials")
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("queued (-want +got):\n%s", d)
		}
		if len(d.log.recorded) != 1 || d.log.recorded[0].Type != audit.Lockout || d.log.recorded[0].User != "bob" ||
			d.log.recorded[0].Address != home || d.log.recorded[0].Reasons[0] != "10 failed logins within 15m0s" {
			t.Errorf("recorded %+v", d.log.recorded)
		}
		for _, e := range append(d.log.queued, d.log.recorded...) {
			if s := fmt.Sprintf("%+v", e); strings.Contains(s, "guess") || strings.Contains(s, right) {
				t.Errorf("a password is on record: %s", s)
			}
		}
	})
}

// Trouble is no failure of the user's, and no login.
func TestTrouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		down := errors.New("the directory is down")
		d.dir.err = down
		for range 20 {
			if p, err := d.Check(t.Context(), "bob", right, home); !errors.Is(err, down) || p.User != "" {
				t.Fatalf("got %+v, %v", p, err)
			}
		}
		d.dir.err = nil
		if got := d.try(t, "bob", right, home); got != "yes" {
			t.Errorf("got %s after the trouble", got)
		}
		d.log.fail = errors.New("disk full")
		if _, err := d.Check(t.Context(), "bob", "guess", home); !errors.Is(err, d.log.fail) {
			t.Errorf("without a record: got %v", err)
		}
	})
}

func TestAnswersToPeople(t *testing.T) { synctest.Test(t, answersToPeople) }

func answersToPeople(t *testing.T) {
	d := newDoor(t)
	long := strings.Repeat("x", 129)
	for name, tt := range map[string]struct {
		user, password string
		err            error
		code           string
		status         int
		asked          int
	}{
		"no name":            {"", right, nil, wrong, 401, 0},
		"no password":        {"bob", "", nil, wrong, 401, 0},
		"an invisible name":  {"\u200b", right, nil, wrong, 401, 0},
		"a long name":        {long, right, nil, wrong, 401, 0},
		"a long password":    {"bob", strings.Repeat("x", 1025), nil, wrong, 401, 0},
		"a name with a NUL":  {"bob\x00", right, nil, wrong, 401, 0},
		"a password with it": {"bob", right + "\x00", nil, wrong, 401, 0},
		"not valid UTF-8":    {"bob\xff", right, nil, wrong, 401, 0},
		"no role":            {"bob", right, identity.ErrNoRole, "no_role", 403, 1},
		"a name of another":  {"bob", right, fmt.Errorf("x: %w", identity.ErrNameTaken), "account_unavailable", 403, 1},
		"a name to refuse":   {"bob", right, fmt.Errorf("x: %w", identity.ErrInvalid), "account_unavailable", 403, 1},
		"disabled":           {"bob", right, fmt.Errorf("x: %w", identity.ErrRevoked), "account_disabled", 403, 1},
		"expired":            {"bob", right, fmt.Errorf("x: %w", identity.ErrExpired), "account_expired", 403, 1},
	} {
		before := d.dir.questions()
		d.dir.err = tt.err
		_, err := d.Check(t.Context(), tt.user, tt.password, home)
		refused, ok := errors.AsType[*identity.Refused](err)
		if !ok || refused.Code != tt.code || refused.Status != tt.status {
			t.Errorf("%s: got %v, want %d %s", name, err, tt.status, tt.code)
		}
		if got := d.dir.questions() - before; got != tt.asked {
			t.Errorf("%s: asked the directory %d times, want %d", name, got, tt.asked)
		}
		if tt.status == http.StatusForbidden && strings.Contains(refused.Detail, "bob") {
			t.Errorf("%s: the answer says too much: %s", name, refused.Detail)
		}
	}
}
