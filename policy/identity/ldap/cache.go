package ldap

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"io"
	"sync"
	"time"
)

// cacheSize is how many answers are remembered.
const cacheSize = 10_000

// digest stands for a name and a password. It is made with a key that dies with the process, so
// it is of no use to anybody else.
type digest [sha256.Size]byte

type digestKey [32]byte

func newDigestKey() (k digestKey) {
	_, _ = rand.Read(k[:]) // it never fails
	return k
}

func (k *digestKey) of(user, password string) (d digest) {
	h := hmac.New(sha256.New, k[:])
	_, _ = io.WriteString(h, user+"\x00"+password) // neither holds a zero byte
	h.Sum(d[:0])
	return d
}

// cache remembers answers for a while.
type cache[K comparable, V any] struct {
	ttl time.Duration
	mu  sync.Mutex
	m   map[K]remembered[V]
}

type remembered[V any] struct {
	value V
	until time.Time
}

func newCache[K comparable, V any](ttl time.Duration) *cache[K, V] {
	return &cache[K, V]{ttl: ttl, m: map[K]remembered[V]{}}
}

func (c *cache[K, V]) get(k K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.m[k]
	if !ok || !time.Now().Before(r.until) {
		delete(c.m, k)
		return *new(V), false
	}
	return r.value, true
}

func (c *cache[K, V]) drop(k K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.m, k)
}

// put remembers v. A full cache forgets what is over, or else an arbitrary answer.
func (c *cache[K, V]) put(k K, v V) {
	if c.ttl <= 0 {
		return
	}
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.m) >= cacheSize {
		for old, r := range c.m {
			if !now.Before(r.until) {
				delete(c.m, old)
			}
		}
	}
	for old := range c.m {
		if len(c.m) < cacheSize {
			break
		}
		delete(c.m, old)
	}
	c.m[k] = remembered[V]{v, now.Add(c.ttl)}
}
