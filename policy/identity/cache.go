package identity

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svc-gateway/svc/policy"
)

// cacheSize is how many verified tokens and sessions are remembered, about 500 bytes each, and
// how many accounts.
const cacheSize = 1 << 16

const shards = 64

// verified is a token or session that worked when it was loaded. Only the atomics change.
type verified struct {
	principal policy.Principal // Expires is the earliest end of what it depends on
	kind      SessionKind      // empty for a token
	subject   string           // in the directory, for source ldap
	issuer    string           // of the session, for source oidc
	used      atomic.Int64     // Unix seconds of the last noted use
	renewal   renewal
}

// account is a user that was loaded, on behalf of nobody's credential in particular.
type account struct {
	User
	seen atomic.Int64 // Unix seconds of the last noted login
}

// cache remembers verified tokens and sessions, by hash for requests and by id for those that go
// on, and accounts, by name and by link. All that it holds belongs to one revision of the
// store: moving to another empties it at once, and an answer that was read before the move
// cannot get in after it.
type cache struct {
	revision atomic.Int64
	byHash   table[Hash, verified]
	byID     table[string, verified]
	byName   table[string, account]
	byLink   table[Link, account]
}

// advance makes the cache forget everything from before the revision. It reports whether that is
// a new one.
func (c *cache) advance(revision int64) (moved bool) {
	for {
		now := c.revision.Load()
		if revision <= now {
			return false
		}
		if c.revision.CompareAndSwap(now, revision) {
			return true
		}
	}
}

func (c *cache) hash(h Hash) *verified { return c.byHash.get(h, &c.revision) }

func (c *cache) id(id string) *verified { return c.byID.get(id, &c.revision) }

func (c *cache) name(name string) *account { return c.byName.get(name, &c.revision) }

func (c *cache) link(l Link) *account { return c.byLink.get(l, &c.revision) }

func (c *cache) put(h Hash, v *verified, revision int64) {
	c.byHash.put(h, v, revision, &c.revision)
}

func (c *cache) putID(v *verified, revision int64) {
	c.byID.put(v.id(), v, revision, &c.revision)
}

func (c *cache) putAccount(a *account, revision int64) {
	c.byName.put(a.Name, a, revision, &c.revision)
	if a.Link != (Link{}) {
		c.byLink.put(a.Link, a, revision, &c.revision)
	}
}

// table is a map in shards, so that readers on many processors do not meet at one lock.
type table[K comparable, V any] [shards]shard[K, V]

type shard[K comparable, V any] struct {
	mu       sync.RWMutex
	revision int64 // that m belongs to
	m        map[K]*V
}

var seed = maphash.MakeSeed()

func (t *table[K, V]) shard(k K) *shard[K, V] {
	return &t[maphash.Comparable(seed, k)%shards]
}

func (t *table[K, V]) get(k K, current *atomic.Int64) *V {
	s := t.shard(k)
	revision := current.Load()
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.revision != revision {
		return nil
	}
	return s.m[k]
}

// put remembers v, which was read at the revision. A full shard forgets an arbitrary one.
func (t *table[K, V]) put(k K, v *V, revision int64, current *atomic.Int64) {
	s := t.shard(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	if revision != current.Load() {
		return
	}
	if s.m == nil || s.revision != revision {
		s.m, s.revision = make(map[K]*V), revision
	}
	if len(s.m) >= cacheSize/shards {
		for old := range s.m {
			delete(s.m, old)
			break
		}
	}
	s.m[k] = v
}

// id is that of the session, or else of the token. Ids of sessions are longer, so the two are
// never the same.
func (v *verified) id() string {
	if v.kind != "" {
		return v.principal.SessionID
	}
	return v.principal.TokenID
}

// live returns nil while the token or session has not reached its end.
func (v *verified) live(now time.Time) error {
	if end := v.principal.Expires; !end.IsZero() && !now.Before(end) {
		return ErrExpired
	}
	return nil
}
