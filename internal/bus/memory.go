package bus

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Memory is a Bus within one process.
type Memory struct {
	topics struct {
		sync.RWMutex
		m map[string]map[*Subscription]struct{}
	}
	leases   expiring[string]
	counters expiring[int64]
	buckets  expiring[struct{}] // until is when the bucket is full again
}

// NewMemory makes an empty bus. It needs no closing.
func NewMemory() *Memory {
	m := &Memory{}
	m.topics.m = make(map[string]map[*Subscription]struct{})
	return m
}

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
func (m *Memory) Lease(ctx context.Context, key, holder string, ttl time.Duration) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if holder == "" || ttl <= 0 {
		return false, fmt.Errorf("leasing %q: a holder and a ttl above zero are needed, got %q and %v", key, holder, ttl)
	}
	e := m.leases.update(key, func(e entry[string]) entry[string] {
		if e.value == "" || e.value == holder {
			return entry[string]{holder, time.Now().Add(ttl)}
		}
		return e
	})
	return e.value == holder, nil
}

// Release implements Bus.
func (m *Memory) Release(ctx context.Context, key, holder string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.leases.update(key, func(e entry[string]) entry[string] {
		if e.value == holder {
			return entry[string]{}
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
	return m.leases.get(key).value, nil
}

// Count implements Bus.
func (m *Memory) Count(ctx context.Context, key string, n int64, window time.Duration) (int64, time.Time, error) {
	if err := ctx.Err(); err != nil {
		return 0, time.Time{}, err
	}
	if n < 0 || window <= 0 {
		return 0, time.Time{}, fmt.Errorf("counting %q: n must not be negative and the window above zero, got %d and %v", key, n, window)
	}
	if n == 0 {
		e := m.counters.get(key)
		return e.value, e.until, nil
	}
	e := m.counters.update(key, func(e entry[int64]) entry[int64] {
		if e.until.IsZero() {
			e.until = time.Now().Add(window)
		}
		e.value += n
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
	if burst <= 0 || every <= 0 || burst > int64(MaxRefill/every) {
		return Grant{}, fmt.Errorf("taking from %q: burst and every must be above zero and a bucket full within %v, got %d and %v", key, MaxRefill, burst, every)
	}
	now := time.Now()
	var g Grant
	e := m.buckets.update(key, func(e entry[struct{}]) entry[struct{}] {
		full := e.until
		if full.Before(now) {
			full = now
		}
		if full = full.Add(every); full.Sub(now) > time.Duration(burst)*every {
			return e
		}
		g.OK = true
		return entry[struct{}]{until: full}
	})
	g.Full = max(0, e.until.Sub(now))
	g.Left = max(0, burst-int64((g.Full+every-1)/every))
	if g.Left == 0 {
		g.Wait = g.Full - time.Duration(burst-1)*every
	}
	return g, nil
}
