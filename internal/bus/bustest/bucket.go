package bustest

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svc-gateway/svc/internal/bus"
)

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
