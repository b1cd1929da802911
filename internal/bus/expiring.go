package bus

import (
	"sync"
	"time"
)

// expiring is a map whose entries end at a time of their own. Its zero value is ready.
type expiring[V any] struct {
	mu    sync.Mutex
	m     map[string]entry[V]
	sweep int // size at which dead entries are looked for
}

type entry[V any] struct {
	value V
	until time.Time // zero: there is no entry
}

// get returns the living entry of key, or a zero one.
func (x *expiring[V]) get(key string) entry[V] {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.alive(key)
}

// update replaces the living entry of key, a zero one if there is none, by what change makes of it.
func (x *expiring[V]) update(key string, change func(entry[V]) entry[V]) entry[V] {
	x.mu.Lock()
	defer x.mu.Unlock()
	e := change(x.alive(key))
	if e.until.IsZero() {
		delete(x.m, key)
		return e
	}
	if x.m == nil {
		x.m, x.sweep = make(map[string]entry[V]), 1024
	}
	x.m[key] = e
	if len(x.m) >= x.sweep {
		now := time.Now()
		for k, e := range x.m {
			if !e.until.After(now) {
				delete(x.m, k)
			}
		}
		x.sweep = max(1024, 2*len(x.m)) // the cost of a sweep is spread over as many insertions
	}
	return e
}

func (x *expiring[V]) alive(key string) entry[V] {
	e := x.m[key]
	if !e.until.After(time.Now()) {
		return entry[V]{}
	}
	return e
}
