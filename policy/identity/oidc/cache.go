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

// tokenID is a token as it was judged: by its hash, and by what it was good for.
type tokenID struct {
	hash     [sha256.Size]byte
	resource string // empty: for the API
}

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

// cache remembers verified tokens. What was refused is not remembered.
type cache struct {
	mu   sync.RWMutex
	m    map[tokenID]verifiedToken
	size int // of all
}

// get returns a token that is still good: it goes when the provider's keys change.
func (c *cache) get(ctx context.Context, id tokenID, now time.Time) (identity.External, bool) {
	c.mu.RLock()
	v, ok := c.m[id]
	c.mu.RUnlock()
	if !ok || !now.Before(v.until) {
		return identity.External{}, false
	}
	state, err := v.issuer.current(ctx)
	return v.external, err == nil && state == v.state
}

// put remembers a token. A full cache forgets arbitrary ones.
func (c *cache) put(id tokenID, v verifiedToken) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.m == nil {
		c.m = map[tokenID]verifiedToken{}
	}
	c.remove(id)
	c.m[id] = v
	c.size += v.size()
	for old := range c.m {
		if len(c.m) <= cacheSize && c.size <= cacheBytes {
			break
		}
		c.remove(old)
	}
}

// remove forgets a token. The caller holds mu.
func (c *cache) remove(id tokenID) {
	if old, ok := c.m[id]; ok {
		c.size -= old.size()
		delete(c.m, id)
	}
}
