// Package bustest is the conformance suite of bus.Bus. Every implementation passes it:
//
//	func TestConformance(t *testing.T) {
//		bustest.Conformance(t, func(t *testing.T) bus.Bus { return bus.NewMemory() })
//	}
//
// The suite waits in real time (some 100 ms), because a bus across processes has its own clock.
package bustest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/svc-gateway/svc/internal/bus"
)

// patience bounds how long something may take to arrive; it is only spent on failure.
const patience = 5 * time.Second

// Conformance checks that the buses made by open behave as bus.Bus documents. open is called once
// a test and returns an empty bus; it cleans up with t.Cleanup.
func Conformance(t *testing.T, open func(t *testing.T) bus.Bus) {
	for name, test := range map[string]func(*testing.T, bus.Bus){
		"publish reaches the subscribers of its topic": publish,
		"order is kept":                             order,
		"a slow subscriber loses the oldest":        slow,
		"close ends a subscription":                 closing,
		"publish, subscribe and close concurrently": concurrent,
		"a lease has one holder":                    lease,
		"a lease expires":                           expiry,
		"one of many takes a lease":                 race,
		"fencing tokens grow":                       fencing,
		"a room takes so many members":              room,
		"members expire":                            roomExpiry,
		"of a room no place is taken twice":         roomRace,
		"counters count within a window":            count,
		"counters lose nothing":                     countAll,
		"a cleared counter begins anew":             clearing,
		"a bucket empties and fills":                bucket,
		"of a bucket no token is taken twice":       bucketRace,
		"bad arguments and ended contexts":          refuse,
		"a bus that works says so":                  health,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func refuse(t *testing.T, b bus.Bus) {
	if _, err := b.Lease(t.Context(), "k", "", time.Minute); err == nil {
		t.Error("Lease without a holder: got no error")
	}
	if _, err := b.Lease(t.Context(), "k", "a", 0); err == nil {
		t.Error("Lease without a ttl: got no error")
	}
	for _, bad := range []struct {
		member string
		most   int64
		ttl    time.Duration
	}{{"", 1, time.Minute}, {"a", 0, time.Minute}, {"a", -1, time.Minute}, {"a", 1, 0}} {
		if _, err := b.Enter(t.Context(), "k", bad.member, bad.most, bad.ttl); err == nil {
			t.Errorf("Enter as %q, at most %d, for %v: got no error", bad.member, bad.most, bad.ttl)
		}
	}
	if _, _, err := b.Count(t.Context(), "k", 1, 0); err == nil {
		t.Error("Count without a window: got no error")
	}
	for _, bad := range []struct {
		burst int64
		every time.Duration
	}{{0, time.Second}, {1, 0}, {-1, time.Second}, {1, -1}, {1 << 40, time.Hour}} {
		if _, err := b.Take(t.Context(), "k", bad.burst, bad.every); err == nil {
			t.Errorf("Take from a bucket of %d, one each %v: got no error", bad.burst, bad.every)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Publish(ended, "t", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Publish: got %v, want context.Canceled", err)
	}
	if _, err := b.Lease(ended, "k", "a", time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("Lease: got %v, want context.Canceled", err)
	}
	if err := b.Release(ended, "k", "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("Release: got %v, want context.Canceled", err)
	}
	if _, err := b.Holder(ended, "k"); !errors.Is(err, context.Canceled) {
		t.Errorf("Holder: got %v, want context.Canceled", err)
	}
	if _, err := b.Enter(ended, "k", "a", 1, time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("Enter: got %v, want context.Canceled", err)
	}
	if err := b.Leave(ended, "k", "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("Leave: got %v, want context.Canceled", err)
	}
	if _, _, err := b.Count(ended, "k", 1, time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("Count: got %v, want context.Canceled", err)
	}
	if err := b.Clear(ended, "k"); !errors.Is(err, context.Canceled) {
		t.Errorf("Clear: got %v, want context.Canceled", err)
	}
	if _, err := b.Take(ended, "k", 1, time.Second); !errors.Is(err, context.Canceled) {
		t.Errorf("Take: got %v, want context.Canceled", err)
	}
}

func health(t *testing.T, b bus.Bus) {
	h := b.Health()
	if h.Kind == "" || !h.Connected || h.Since.IsZero() || h.Reason != "" || h.Err != nil {
		t.Errorf("got %+v, want a connected bus", h)
	}
}

// wait pauses between two looks at something that another process may time.
func wait(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-time.After(d):
	case <-t.Context().Done():
		t.Fatal(t.Context().Err())
	}
}
