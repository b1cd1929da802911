package identity

import (
	"context"
	"sync"
	"time"
)

const (
	usageStep     = time.Minute      // how exact LastUsed is
	usageInterval = 10 * time.Second // how often it is written
)

// usage collects when tokens were used until somebody writes it down. It holds what was used
// since the last time, at most one entry a token.
type usage struct {
	mu sync.Mutex
	at map[string]time.Time // by token id
}

// note remembers that a token was used, unless that was noted within the last step.
func (u *usage) note(v *verified, now time.Time) {
	was, is := v.used.Load(), now.Unix()
	if is-was < int64(usageStep/time.Second) || !v.used.CompareAndSwap(was, is) {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.at == nil {
		u.at = map[string]time.Time{}
	}
	u.at[v.principal.TokenID] = now
}

func (u *usage) take() map[string]time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	at := u.at
	u.at = nil
	return at
}

// writeUsage writes what was collected. A store that cannot be written loses the times, which
// are for information only; requests do not depend on them.
func (s *Service) writeUsage(ctx context.Context) {
	if at := s.used.take(); len(at) > 0 {
		_ = s.store.Touch(ctx, at)
	}
}
