package identity

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/svc-gateway/svc/policy"
)

// cacheSize is how many verified tokens are remembered, about 400 bytes each.
const cacheSize = 1 << 16

const shards = 64

// verified is a token that worked when it was loaded. Only used changes.
type verified struct {
	principal policy.Principal // Expires is the earlier end of token and user
	used      atomic.Int64     // Unix seconds of the last noted use
}

// cache remembers verified tokens, by hash for requests and by id for those that go on. All
// that it holds belongs to one revision of the store: moving to another empties it at once,
// and an answer that was read before the move cannot get in after it.
type cache struct {
	revision atomic.Int64
	byHash   [shards]shard[Hash]
	byID     [shards]shard[string]
}

type shard[K comparable] struct {
	mu       sync.RWMutex
	revision int64 // that m belongs to
	m        map[K]*verified
}

// advance makes the cache forget everything from before the revision.
func (c *cache) advance(revision int64) {
	for {
		now := c.revision.Load()
		if revision <= now || c.revision.CompareAndSwap(now, revision) {
			return
		}
	}
}

func (c *cache) hash(h Hash) *verified {
	return c.byHash[h[0]%shards].get(h, c.revision.Load())
}

func (c *cache) id(id string) *verified {
	return c.byID[place(id)].get(id, c.revision.Load())
}

func (c *cache) put(h Hash, v *verified, revision int64) {
	c.byHash[h[0]%shards].put(h, v, revision, &c.revision)
}

func (c *cache) putID(v *verified, revision int64) {
	id := v.principal.TokenID
	c.byID[place(id)].put(id, v, revision, &c.revision)
}

// place spreads ids over the shards by their first characters, which are random.
func place(id string) int {
	var h uint32
	for i := range min(len(id), 4) {
		h = h*31 + uint32(id[i])
	}
	return int(h % shards)
}

func (s *shard[K]) get(k K, revision int64) *verified {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.revision != revision {
		return nil
	}
	return s.m[k]
}

// put remembers v, which was read at the revision. A full shard forgets an arbitrary one.
func (s *shard[K]) put(k K, v *verified, revision int64, current *atomic.Int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if revision != current.Load() {
		return
	}
	if s.m == nil || s.revision != revision {
		s.m, s.revision = make(map[K]*verified), revision
	}
	if len(s.m) >= cacheSize/shards {
		for old := range s.m {
			delete(s.m, old)
			break
		}
	}
	s.m[k] = v
}

// live returns nil while the token has not reached its end.
func (v *verified) live(now time.Time) error {
	if end := v.principal.Expires; !end.IsZero() && !now.Before(end) {
		return ErrExpired
	}
	return nil
}
