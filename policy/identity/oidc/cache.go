package oidc

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"

	"github.com/svc-gateway/svc/policy/identity"
)

// cacheSize is how many verified tokens are remembered, about a kilobyte each.
const cacheSize = 10_000

// verifiedToken is a bearer token that was found to be good.
type verifiedToken struct {
	issuer   *issuer
	state    *state // the keys that it was verified with
	external identity.External
	until    time.Time
}

// cache remembers verified tokens by their hash. What was refused is not remembered.
type cache struct {
	mu sync.RWMutex
	m  map[[sha256.Size]byte]verifiedToken
}

// get returns a token that is still good: it goes when the provider's keys change.
func (c *cache) get(ctx context.Context, hash [sha256.Size]byte, now time.Time) (identity.External, bool) {
	c.mu.RLock()
	v, ok := c.m[hash]
	c.mu.RUnlock()
	if !ok || !now.Before(v.until) {
		return identity.External{}, false
	}
	state, err := v.issuer.current(ctx)
	return v.external, err == nil && state == v.state
}

// put remembers a token. A full cache forgets an arbitrary one.
func (c *cache) put(hash [sha256.Size]byte, v verifiedToken) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.m == nil {
		c.m = map[[sha256.Size]byte]verifiedToken{}
	}
	if len(c.m) >= cacheSize {
		for old := range c.m {
			delete(c.m, old)
			break
		}
	}
	c.m[hash] = v
}
