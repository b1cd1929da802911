package identity

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svc-gateway/svc/policy"
)

const (
	usageStep     = time.Minute      // how exact LastUsed is
	usageInterval = 10 * time.Second // how often it is written
)

// usage collects what was used until somebody writes it down. It holds what was used since the
// last time, at most one entry each.
type usage struct {
	mu sync.Mutex
	at Used
}

// noteUse remembers that a token or session was used, unless that was noted within the last step.
func (u *usage) noteUse(v *verified, now time.Time) {
	if !due(&v.used, now) {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	m := &u.at.Tokens
	if v.kind != "" {
		m = &u.at.Sessions
	}
	if *m == nil {
		*m = map[string]time.Time{}
	}
	(*m)[v.id()] = now
}

// noteLogin remembers that somebody was let in, unless that was noted within the last step.
func (u *usage) noteLogin(a *account, role policy.Role, now time.Time) {
	if !due(&a.seen, now) {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.at.Logins == nil {
		u.at.Logins = map[string]LoginSeen{}
	}
	u.at.Logins[a.Name] = LoginSeen{now, role}
}

// due reports, to one caller a step, that the last note is a step ago.
func due(last *atomic.Int64, now time.Time) bool {
	was, is := last.Load(), now.Unix()
	return is-was >= int64(usageStep/time.Second) && last.CompareAndSwap(was, is)
}

// drain returns what was noted and forgets it.
func (u *usage) drain() Used {
	u.mu.Lock()
	defer u.mu.Unlock()
	at := u.at
	u.at = Used{}
	return at
}

// writeUsage writes what was collected. A store that cannot be written loses the times, which
// are for information only; requests do not depend on them.
func (s *Service) writeUsage(ctx context.Context) {
	if at := s.used.drain(); len(at.Tokens)+len(at.Sessions)+len(at.Logins) > 0 {
		_ = s.store.Touch(ctx, at)
	}
}
