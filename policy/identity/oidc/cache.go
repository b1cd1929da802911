package oidc

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"

	"github.com/svc-gateway/svc/policy/identity"
)

// How many verified tokens are remembered, and about how many bytes they may take together: users
// may be in very many groups.
const (
	cacheSize  = 10_000
	cacheBytes = 32 << 20
)

// verifiedToken is a bearer token that was found to be good.
type verifiedToken struct {
	issuer   *issuer
	state    *state // the keys that it was verified with
	external identity.External
	until    time.Time
}

// size is about how many bytes the token takes.
func (v *verifiedToken) size() int {
	n := 512 + len(v.external.Name) + len(v.external.Subject)
	for _, g := range v.external.Groups {
		n += 16 + len(g)
	}
	return n
}

// cache remembers verified tokens by their hash. What was refused is not remembered.
type cache struct {
	mu   sync.RWMutex
	m    map[[sha256.Size]byte]verifiedToken
	size int // of all
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

// put remembers a token. A full cache forgets arbitrary ones.
func (c *cache) put(hash [sha256.Size]byte, v verifiedToken) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.m == nil {
		c.m = map[[sha256.Size]byte]verifiedToken{}
	}
	c.remove(hash)
	c.m[hash] = v
	c.size += v.size()
	for old := range c.m {
		if len(c.m) <= cacheSize && c.size <= cacheBytes {
			break
		}
		c.remove(old)
	}
}

// remove forgets a token. The caller holds mu.
func (c *cache) remove(hash [sha256.Size]byte) {
	if old, ok := c.m[hash]; ok {
		c.size -= old.size()
		delete(c.m, hash)
	}
}
