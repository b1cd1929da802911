package identity

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/bus"
)

// attempt is who tries to log in with a password: a folded name and a folded address. In a
// scope that is about one of them the other is empty.
type attempt struct{ user, address string }

// budget is how many failures a scope has before it is locked.
type budget struct {
	name     string
	failures int64
	within   time.Duration
	scope    func(attempt) attempt
	earned   bool // a success gives it back; before it is spent there are delays
	strange  bool // the lockout spares addresses that the user was let in from before
}

// budgets are what every failure is charged to. The first is for people who mistype. The second
// holds where somebody behind the same address guesses while the user's own logins succeed. The
// third stops guesses of one user that come from everywhere, without locking the user out
// where they are at home. The fourth stops one who tries many users.
var budgets = [...]budget{
	{name: "recent", failures: 10, within: 15 * time.Minute, scope: pair, earned: true},
	{name: "day", failures: 100, within: 24 * time.Hour, scope: pair},
	{name: "user", failures: 100, within: 24 * time.Hour, scope: userOnly, strange: true},
	{name: "address", failures: 100, within: 15 * time.Minute, scope: addressOnly},
}

func pair(a attempt) attempt        { return a }
func userOnly(a attempt) attempt    { return attempt{user: a.user} }
func addressOnly(a attempt) attempt { return attempt{address: a.address} }

// patientFailures is how many failures in a row have no delay. From the next on each doubles it.
const patientFailures = 3

func (a attempt) key(name string) string {
	return "lockout." + name + "\x00" + a.user + "\x00" + a.address
}

// forget clears the failures of exactly this scope.
func (a attempt) forget(ctx context.Context, b bus.Bus) error {
	for _, name := range []string{"recent", "day", "user", "address", "delay"} {
		if err := b.Clear(ctx, a.key(name)); err != nil {
			return fmt.Errorf("clearing failed logins: %w", err)
		}
	}
	return nil
}

// listens returns nil when the attempt may be made, and the refusal while it is locked or
// delayed. What it returns besides is for failed and succeeded.
func (s *Service) listens(ctx context.Context, a attempt, now time.Time) (Standing, error) {
	st, err := s.store.Standing(ctx, a.user, a.address)
	if err != nil {
		return st, fmt.Errorf("looking for lockouts: %w", err)
	}
	failed, until, err := s.bus.Count(ctx, a.key("delay"), 0, time.Second)
	if err != nil {
		return st, fmt.Errorf("looking for failed logins: %w", err)
	}
	if failed == 0 {
		until = time.Time{}
	}
	for _, l := range st.Lockouts {
		if (l.Address != "" || !st.familiar(now)) && l.Until.After(until) {
			until = l.Until
		}
	}
	if wait := until.Sub(now); wait > 0 {
		return st, tooMany(wait)
	}
	return st, nil
}

// familiar reports whether the user was let in from the address not too long ago.
func (st Standing) familiar(now time.Time) bool {
	return !st.Familiar.IsZero() && now.Sub(st.Familiar) < familiarFor
}

// tooMany is the refusal of an attempt that is not made. It is the same for every cause and
// for users that do not exist.
func tooMany(wait time.Duration) *Refused {
	return &Refused{
		Status: http.StatusTooManyRequests, Code: "too_many_failures", Reason: "locked", RetryAfter: wait,
		Detail: "Too many logins failed. Wait for the time in Retry-After before you try again, or ask an admin to unlock you.",
	}
}

// failed charges a failure.
func (s *Service) failed(ctx context.Context, a attempt, st Standing, now time.Time) error {
	for _, b := range budgets {
		if b.strange && st.familiar(now) {
			continue
		}
		scope := b.scope(a)
		n, _, err := s.bus.Count(ctx, scope.key(b.name), 1, b.within)
		if err != nil {
			return fmt.Errorf("counting a failed login: %w", err)
		}
		switch {
		case n >= b.failures:
			err = s.lockOut(ctx, scope, b, n, now)
		case b.earned && n > patientFailures:
			_, _, err = s.bus.Count(ctx, scope.key("delay"), 1, time.Second<<(n-patientFailures-1))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lockOut records a lockout and makes it, unless there is one already.
func (s *Service) lockOut(ctx context.Context, scope attempt, b budget, n int64, now time.Time) error {
	s.locking.Lock()
	defer s.locking.Unlock()
	st, err := s.store.Standing(ctx, scope.user, scope.address)
	if err != nil {
		return fmt.Errorf("looking for lockouts: %w", err)
	}
	next := Lockout{User: scope.user, Address: scope.address, Since: precise(now), Times: 1}
	for _, l := range st.Lockouts {
		switch {
		case l.User != scope.user || l.Address != scope.address:
		case l.Until.After(now):
			return nil
		case now.Sub(l.Until) < lockoutMemory:
			next.Times = l.Times + 1
		}
	}
	next.Until = next.Since.Add(min(firstLockout<<min(next.Times-1, 10), longestLockout))
	doc, err := json.Marshal(next)
	if err != nil {
		return fmt.Errorf("recording a lockout: %w", err)
	}
	err = s.log.Record(ctx, audit.Event{
		Type: audit.Lockout, User: next.User, Address: next.Address, Input: string(doc),
		Decision: "deny", Status: "denied", Reasons: []string{fmt.Sprintf("%d failed logins within %s", n, b.within)},
	})
	if err != nil {
		return fmt.Errorf("recording a lockout: %w", err)
	}
	return s.store.PutLockout(ctx, next, now.Add(-lockoutMemory))
}

// succeeded gives back what a success earns, and remembers the address.
func (s *Service) succeeded(ctx context.Context, a attempt, st Standing, now time.Time) error {
	n, _, err := s.bus.Count(ctx, a.key("recent"), 0, time.Second)
	if err != nil {
		return fmt.Errorf("looking for failed logins: %w", err)
	}
	if n > 0 {
		for _, name := range []string{"recent", "delay"} {
			if err := s.bus.Clear(ctx, a.key(name)); err != nil {
				return fmt.Errorf("clearing failed logins: %w", err)
			}
		}
	}
	for _, l := range st.Lockouts {
		if l.User == a.user && l.Address == a.address {
			if err := s.store.RemoveLockouts(ctx, l); err != nil {
				return err
			}
		}
	}
	if now.Sub(st.Familiar) < 24*time.Hour {
		return nil
	}
	return s.store.NoteFamiliar(ctx, a.user, a.address, now, now.Add(-familiarFor))
}
