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
	"fmt"
	"sync"
	"sync/atomic"
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
		"counters count within a window":            count,
		"counters lose nothing":                     countAll,
		"a cleared counter begins anew":             clearing,
		"a bucket empties and fills":                bucket,
		"of a bucket no token is taken twice":       bucketRace,
		"bad arguments and ended contexts":          refuse,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func receive(t *testing.T, s *bus.Subscription) string {
	t.Helper()
	select {
	case m, ok := <-s.C():
		if !ok {
			t.Fatal("the channel is closed")
		}
		return string(m)
	case <-time.After(patience):
		t.Fatal("no message came")
		return ""
	}
}

func send(t *testing.T, b bus.Bus, topic, message string) {
	t.Helper()
	if err := b.Publish(t.Context(), topic, []byte(message)); err != nil {
		t.Fatal(err)
	}
}

func publish(t *testing.T, b bus.Bus) {
	one, two, other := b.Subscribe("topic"), b.Subscribe("topic"), b.Subscribe("other")
	defer one.Close()
	defer two.Close()
	defer other.Close()
	send(t, b, "nobody listens", "x")
	send(t, b, "topic", "hello")
	send(t, b, "other", "there")
	for s, want := range map[*bus.Subscription]string{one: "hello", two: "hello", other: "there"} {
		if got := receive(t, s); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if s.Lost() {
			t.Error("Lost without a loss")
		}
	}
}

func order(t *testing.T, b bus.Bus) {
	s := b.Subscribe("topic")
	defer s.Close()
	for i := range 2 * bus.Buffer {
		send(t, b, "topic", fmt.Sprint(i))
		if got := receive(t, s); got != fmt.Sprint(i) {
			t.Fatalf("got %q, want %d", got, i)
		}
	}
}

func slow(t *testing.T, b bus.Bus) {
	s := b.Subscribe("topic")
	defer s.Close()
	const n = 3 * bus.Buffer
	for i := range n {
		send(t, b, "topic", fmt.Sprint(i))
	}
	var got []string
	for len(got) == 0 || got[len(got)-1] != fmt.Sprint(n-1) {
		got = append(got, receive(t, s))
	}
	if !s.Lost() {
		t.Error("messages were dropped and Lost is false")
	}
	if s.Lost() {
		t.Error("Lost is true a second time")
	}
	if len(got) > n-1 {
		t.Errorf("got all %d messages, want at most %d waiting", len(got), bus.Buffer)
	}
}

func closing(t *testing.T, b bus.Bus) {
	s := b.Subscribe("topic")
	s.Close()
	s.Close()
	send(t, b, "topic", "late")
	select {
	case m, ok := <-s.C():
		if ok {
			t.Errorf("got %q after Close", m)
		}
	case <-time.After(patience):
		t.Error("the channel is open after Close")
	}
}

func concurrent(t *testing.T, b bus.Bus) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				s := b.Subscribe("topic")
				if err := b.Publish(t.Context(), "topic", []byte("x")); err != nil {
					t.Error(err)
				}
				s.Close()
			}
		})
	}
	wg.Wait()
}

func take(t *testing.T, b bus.Bus, key, holder string, ttl time.Duration, want bool) {
	t.Helper()
	got, err := b.Lease(t.Context(), key, holder, ttl)
	if err != nil || got != want {
		t.Errorf("Lease(%q, %q): got %v, %v; want %v", key, holder, got, err, want)
	}
}

func holder(t *testing.T, b bus.Bus, key, want string) {
	t.Helper()
	got, err := b.Holder(t.Context(), key)
	if err != nil || got != want {
		t.Errorf("Holder(%q): got %q, %v; want %q", key, got, err, want)
	}
}

func lease(t *testing.T, b bus.Bus) {
	holder(t, b, "k", "")
	take(t, b, "k", "a", time.Minute, true)
	take(t, b, "k", "b", time.Minute, false)
	take(t, b, "other", "b", time.Minute, true)
	take(t, b, "k", "a", time.Minute, true)
	holder(t, b, "k", "a")
	if err := b.Release(t.Context(), "k", "b"); err != nil {
		t.Error(err)
	}
	holder(t, b, "k", "a")
	if err := b.Release(t.Context(), "k", "a"); err != nil {
		t.Error(err)
	}
	holder(t, b, "k", "")
	take(t, b, "k", "b", time.Minute, true)
}

func expiry(t *testing.T, b bus.Bus) {
	take(t, b, "k", "a", 50*time.Millisecond, true)
	start := time.Now()
	for {
		ok, err := b.Lease(t.Context(), "k", "b", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			break
		}
		if time.Since(start) > patience {
			t.Fatal("the lease does not expire")
		}
		wait(t, time.Millisecond)
	}
	if early := 50*time.Millisecond - time.Since(start); early > 5*time.Millisecond {
		t.Errorf("the lease ended %v early", early)
	}
	take(t, b, "k", "a", time.Minute, false)
}

func race(t *testing.T, b bus.Bus) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	var got []string
	for i := range 16 {
		wg.Go(func() {
			name := fmt.Sprint("node-", i)
			ok, err := b.Lease(t.Context(), "k", name, time.Minute)
			if err != nil {
				t.Error(err)
			}
			if ok {
				mu.Lock()
				got = append(got, name)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(got) != 1 {
		t.Fatalf("got holders %v, want exactly one", got)
	}
	holder(t, b, "k", got[0])
}

func count(t *testing.T, b bus.Bus) {
	add := func(key string, n, want int64, window time.Duration) time.Time {
		t.Helper()
		got, reset, err := b.Count(t.Context(), key, n, window)
		if err != nil || got != want {
			t.Errorf("Count(%q, %d): got %d, %v; want %d", key, n, got, err, want)
		}
		return reset
	}
	if reset := add("k", 0, 0, time.Minute); !reset.IsZero() {
		t.Errorf("looking at nothing: got reset %v, want the zero Time", reset)
	}
	before := time.Now()
	first := add("k", 2, 2, time.Minute)
	if d := first.Sub(before); d < 59*time.Second || d > 61*time.Second {
		t.Errorf("got a reset in %v, want in a minute", d)
	}
	if again := add("k", 3, 5, time.Minute); again.Sub(first).Abs() > time.Second {
		t.Errorf("the window moved from %v to %v", first, again)
	}
	add("k", 0, 5, time.Minute)
	add("other", 1, 1, time.Minute)

	add("short", 7, 7, 50*time.Millisecond)
	for start := time.Now(); ; wait(t, time.Millisecond) {
		total, _, err := b.Count(t.Context(), "short", 0, 50*time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		if total == 0 {
			break
		}
		if time.Since(start) > patience {
			t.Fatal("the window does not end")
		}
	}
	add("short", 1, 1, time.Minute)
}

func countAll(t *testing.T, b bus.Bus) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				if _, _, err := b.Count(t.Context(), "k", 1, time.Minute); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got, _, err := b.Count(t.Context(), "k", 0, time.Minute); err != nil || got != 800 {
		t.Errorf("got %d, %v; want 800", got, err)
	}
}

func clearing(t *testing.T, b bus.Bus) {
	for range 2 {
		for _, key := range []string{"k", "other"} {
			if _, _, err := b.Count(t.Context(), key, 1, time.Minute); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.Clear(t.Context(), "k"); err != nil {
			t.Fatal(err)
		}
		if n, reset, err := b.Count(t.Context(), "k", 0, time.Minute); err != nil || n != 0 || !reset.IsZero() {
			t.Errorf("got %d, %v, %v; want nothing", n, reset, err)
		}
	}
	if n, _, err := b.Count(t.Context(), "other", 0, time.Minute); err != nil || n != 2 {
		t.Errorf("got %d, %v of a key that was not cleared; want 2", n, err)
	}
}

func grant(t *testing.T, b bus.Bus, key string, burst int64, every time.Duration) bus.Grant {
	t.Helper()
	g, err := b.Take(t.Context(), key, burst, every)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func bucket(t *testing.T, b bus.Bus) {
	near := func(what string, got, want time.Duration) {
		t.Helper()
		if d := want - got; d < -time.Second || d > time.Second {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
	}
	if _, _, err := b.Count(t.Context(), "k", 5, time.Minute); err != nil { // a bucket is no counter
		t.Fatal(err)
	}
	for i := range int64(3) {
		g := grant(t, b, "k", 3, time.Minute)
		if !g.OK || g.Left != 2-i || (g.Wait == 0) != (g.Left > 0) {
			t.Errorf("token %d: got %+v, want %d left", i, g, 2-i)
		}
		near("full", g.Full, time.Duration(i+1)*time.Minute)
	}
	for range 2 { // a refusal costs nothing
		g := grant(t, b, "k", 3, time.Minute)
		if g.OK || g.Left != 0 {
			t.Errorf("empty: got %+v", g)
		}
		near("wait", g.Wait, time.Minute)
		near("full", g.Full, 3*time.Minute)
	}
	if g := grant(t, b, "other", 3, time.Minute); !g.OK || g.Left != 2 {
		t.Errorf("another key: got %+v", g)
	}
	grant(t, b, "quick", 1, 50*time.Millisecond)
	for start := time.Now(); !grant(t, b, "quick", 1, 50*time.Millisecond).OK; wait(t, time.Millisecond) {
		if time.Since(start) > patience {
			t.Fatal("the bucket does not fill")
		}
	}
}

func bucketRace(t *testing.T, b bus.Bus) {
	var wg sync.WaitGroup
	var got atomic.Int64
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if grant(t, b, "k", 100, time.Hour).OK {
					got.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if got.Load() != 100 {
		t.Errorf("got %d tokens out of a bucket of 100", got.Load())
	}
}

func refuse(t *testing.T, b bus.Bus) {
	if _, err := b.Lease(t.Context(), "k", "", time.Minute); err == nil {
		t.Error("Lease without a holder: got no error")
	}
	if _, err := b.Lease(t.Context(), "k", "a", 0); err == nil {
		t.Error("Lease without a ttl: got no error")
	}
	if _, _, err := b.Count(t.Context(), "k", -1, time.Minute); err == nil {
		t.Error("Count of less than nothing: got no error")
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

// wait pauses between two looks at something that another process may time.
func wait(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-time.After(d):
	case <-t.Context().Done():
		t.Fatal(t.Context().Err())
	}
}
