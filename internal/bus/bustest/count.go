package bustest

import (
	"sync"
	"testing"
	"time"

	"github.com/svc-gateway/svc/internal/bus"
)

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

	// what was counted is given back, within the window it was counted in
	if again := add("k", -2, 3, time.Minute); again.Sub(first).Abs() > time.Second {
		t.Errorf("giving back moved the window from %v to %v", first, again)
	}
	if reset := add("k", -7, 0, time.Minute); !reset.IsZero() {
		t.Errorf("all was given back: got reset %v, want the zero Time", reset)
	}
	add("k", -1, 0, time.Minute)
	add("k", 4, 4, time.Minute)

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
