package identity

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/policy"
)

const (
	// maxAddresses is how many tokens at addresses are remembered, about 150 bytes each. One
	// that was forgotten is looked up again.
	maxAddresses = 1 << 14
	// addressStep is how often it is written down that a token is still used from an address.
	addressStep = 24 * time.Hour
)

// NoteAddress is called for a request that was let in. It records when a token is used from an
// address, or IPv6 network, that it was not used from in the last 90 days; the first address of
// all is no news.
func (s *Service) NoteAddress(ctx context.Context, p policy.Principal) error {
	if p.Source != policy.SourceToken || p.SessionID != "" || p.Address == "" {
		return nil
	}
	now, here := time.Now(), tokenAt{p.TokenID, p.Address}
	if !s.addresses.remember(here, now) {
		return nil
	}
	if err := s.noteAddress(context.WithoutCancel(ctx), p, now); err != nil {
		s.addresses.forget(here) // the next request tries again
		return fmt.Errorf("noting where a token is used: %w", err)
	}
	return nil
}

func (s *Service) noteAddress(ctx context.Context, p policy.Principal, now time.Time) error {
	who, address := "token:"+p.TokenID, FoldAddress(p.Address)
	last, known, err := s.store.Familiar(ctx, who, address)
	if err != nil {
		return err
	}
	if known && now.Sub(last) > familiarFor {
		err := s.log.Queue(ctx, audit.Event{
			Type: audit.TokenNewAddress, User: p.User, Role: string(p.Role), TokenID: p.TokenID, Address: p.Address,
		})
		if err != nil {
			return err
		}
	}
	if now.Sub(last) < addressStep {
		return nil
	}
	return s.store.NoteFamiliar(ctx, who, address, now, now.Add(-familiarFor))
}

// tokenAt is a token at an address.
type tokenAt struct{ token, address string }

// addresses are the tokens at addresses that need no look at the store. Its zero value is ready.
type addresses struct {
	mu    sync.RWMutex
	noted map[tokenAt]time.Time
}

// remember notes p and reports whether that is news: it was not noted, or too long ago. A full
// memory forgets an arbitrary one.
func (a *addresses) remember(p tokenAt, now time.Time) bool {
	a.mu.RLock()
	at, ok := a.noted[p]
	a.mu.RUnlock()
	if ok && now.Sub(at) < addressStep {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if at, ok := a.noted[p]; ok && now.Sub(at) < addressStep {
		return false // another request was first
	}
	if a.noted == nil {
		a.noted = make(map[tokenAt]time.Time)
	}
	for old := range a.noted {
		if len(a.noted) < maxAddresses {
			break
		}
		delete(a.noted, old)
	}
	a.noted[p] = now
	return true
}

func (a *addresses) forget(p tokenAt) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.noted, p)
}
