package bustest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svc-gateway/svc/internal/bus"
)

func enter(t *testing.T, b bus.Bus, key, member string, most int64, ttl time.Duration, want bool) {
	t.Helper()
	ok, err := b.Enter(t.Context(), key, member, most, ttl)
	if err != nil || ok != want {
		t.Errorf("Enter(%q, %q, %d): got %v, %v; want %v", key, member, most, ok, err, want)
	}
}

func leave(t *testing.T, b bus.Bus, key, member string) {
	t.Helper()
	if err := b.Leave(t.Context(), key, member); err != nil {
		t.Errorf("Leave(%q, %q): %v", key, member, err)
	}
}

func room(t *testing.T, b bus.Bus) {
	take(t, b, "k", "x", time.Minute, true) // a room is no lease
	leave(t, b, "k", "a")                   // of a room that is not there
	enter(t, b, "k", "a", 2, time.Minute, true)
	enter(t, b, "k", "b", 2, time.Minute, true)
	enter(t, b, "k", "c", 2, time.Minute, false)
	enter(t, b, "other", "c", 2, time.Minute, true)
	enter(t, b, "k", "a", 2, time.Minute, true)
	enter(t, b, "k", "a", 1, time.Minute, true) // who is in stays, even in a smaller room
	leave(t, b, "k", "c")
	enter(t, b, "k", "c", 2, time.Minute, false)
	leave(t, b, "k", "a")
	enter(t, b, "k", "c", 2, time.Minute, true)
	enter(t, b, "k", "a", 2, time.Minute, false)
	enter(t, b, "k", "a", 3, time.Minute, true)
}

// roomExpiry lets one member's process die while another renews its place.
func roomExpiry(t *testing.T, b bus.Bus) {
	const ttl = 100 * time.Millisecond
	start := time.Now()
	enter(t, b, "k", "dead", 2, ttl, true)
	enter(t, b, "k", "long", 2, time.Minute, true)
	for {
		ok, err := b.Enter(t.Context(), "k", "next", 2, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			break
		}
		if time.Since(start) > patience {
			t.Fatal("the member does not expire")
		}
		wait(t, time.Millisecond)
	}
	if early := ttl - time.Since(start); early > 5*time.Millisecond {
		t.Errorf("the member was put out %v early", early)
	}
	enter(t, b, "k", "dead", 2, time.Minute, false)
	enter(t, b, "k", "long", 2, time.Minute, true)

	enter(t, b, "renewed", "a", 1, ttl, true)
	for start := time.Now(); time.Since(start) < 2*ttl; wait(t, ttl/10) {
		enter(t, b, "renewed", "a", 1, ttl, true)
	}
	enter(t, b, "renewed", "a", 1, time.Minute, true)
	enter(t, b, "renewed", "b", 1, time.Minute, false)
}

func roomRace(t *testing.T, b bus.Bus) {
	var wg sync.WaitGroup
	var got atomic.Int64
	for i := range 8 {
		wg.Go(func() {
			for j := range 10 {
				ok, err := b.Enter(t.Context(), "k", fmt.Sprint(i, "/", j), 16, time.Minute)
				if err != nil {
					t.Error(err)
				}
				if ok {
					got.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if got.Load() != 16 {
		t.Errorf("got %d members in a room of 16", got.Load())
	}
}
