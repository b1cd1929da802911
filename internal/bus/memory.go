package bus

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Memory is a Bus within one process.
type Memory struct {
	topics struct {
		sync.RWMutex
		m map[string]map[*Subscription]struct{}
	}
	leases   expiring[lease]
	rooms    expiring[map[string]time.Time] // when each member is out; until is when the last one is
	counters expiring[int64]
	buckets  expiring[struct{}] // until is when the bucket is full again
	token    atomic.Int64       // the last one that was given
	since    time.Time
}

type lease struct {
	holder string
	token  int64
}

// NewMemory makes an empty bus. It needs no closing.
func NewMemory() *Memory {
	m := &Memory{since: time.Now()}
	m.topics.m = make(map[string]map[*Subscription]struct{})
	return m
}

// Health implements Bus: there is nobody to be cut off from.
func (m *Memory) Health() Health { return Health{Kind: "memory", Connected: true, Since: m.since} }

// Publish implements Bus.
func (m *Memory) Publish(ctx context.Context, topic string, message []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.topics.RLock()
	defer m.topics.RUnlock()
	for s := range m.topics.m[topic] {
		s.Deliver(message)
	}
	return nil
}

// Subscribe implements Bus.
func (m *Memory) Subscribe(topic string) *Subscription {
	var s *Subscription
	s = NewSubscription(func() {
		m.topics.Lock()
		defer m.topics.Unlock()
		delete(m.topics.m[topic], s)
		if len(m.topics.m[topic]) == 0 {
			delete(m.topics.m, topic)
		}
	})
	m.topics.Lock()
	defer m.topics.Unlock()
	if m.topics.m[topic] == nil {
		m.topics.m[topic] = make(map[*Subscription]struct{})
	}
	m.topics.m[topic][s] = struct{}{}
	return s
}

// Lease implements Bus.
func (m *Memory) Lease(ctx context.Context, key, holder string, ttl time.Duration) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if err := CheckLease(key, holder, ttl); err != nil {
		return 0, err
	}
	e := m.leases.update(key, func(e entry[lease]) entry[lease] {
		switch e.value.holder {
		case "":
			e.value = lease{holder, m.nextToken()}
		case holder:
		default:
			return e
		}
		e.until = time.Now().Add(ttl)
		return e
	})
	if e.value.holder != holder {
		return 0, nil
	}
	return e.value.token, nil
}

// nextToken is greater than all before, and, where the clock goes forward, than those of former
// processes.
func (m *Memory) nextToken() int64 {
	for {
		last := m.token.Load()
		next := max(last+1, time.Now().UnixMicro())
		if m.token.CompareAndSwap(last, next) {
			return next
		}
	}
}

// Release implements Bus.
func (m *Memory) Release(ctx context.Context, key, holder string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.leases.update(key, func(e entry[lease]) entry[lease] {
		if e.value.holder == holder {
			return entry[lease]{}
		}
		return e
	})
	return nil
}

// Holder implements Bus.
func (m *Memory) Holder(ctx context.Context, key string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	return m.leases.get(key).value.holder, nil
}

// Count implements Bus.
func (m *Memory) Count(ctx context.Context, key string, n int64, window time.Duration) (int64, time.Time, error) {
	if err := ctx.Err(); err != nil {
		return 0, time.Time{}, err
	}
	if err := CheckCount(key, n, window); err != nil {
		return 0, time.Time{}, err
	}
	if n == 0 {
		e := m.counters.get(key)
		return e.value, e.until, nil
	}
	e := m.counters.update(key, func(e entry[int64]) entry[int64] {
		switch {
		case !e.until.IsZero():
		case n < 0:
			return e
		default:
			e.until = time.Now().Add(window)
		}
		if e.value += n; e.value <= 0 {
			return entry[int64]{}
		}
		return e
	})
	return e.value, e.until, nil
}

// Clear implements Bus.
func (m *Memory) Clear(ctx context.Context, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.counters.update(key, func(entry[int64]) entry[int64] { return entry[int64]{} })
	return nil
}

// Take implements Bus with the generic cell rate algorithm (ITU-T I.371): of a bucket only the
// moment is kept at which it is full again.
func (m *Memory) Take(ctx context.Context, key string, burst int64, every time.Duration) (Grant, error) {
	if err := ctx.Err(); err != nil {
		return Grant{}, err
	}
	if err := CheckBucket(key, burst, every); err != nil {
		return Grant{}, err
	}
	now := time.Now()
	var ok bool
	e := m.buckets.update(key, func(e entry[struct{}]) entry[struct{}] {
		full := e.until
		if full.Before(now) {
			full = now
		}
		if full = full.Add(every); full.Sub(now) > time.Duration(burst)*every {
			return e
		}
		ok = true
		return entry[struct{}]{until: full}
	})
	return GrantOf(ok, e.until.Sub(now), burst, every), nil
}
