package bustest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/svc-gateway/svc/internal/bus"
)

// take expects to get the lease, or not to, and returns the token.
func take(t *testing.T, b bus.Bus, key, holder string, ttl time.Duration, want bool) int64 {
	t.Helper()
	token, err := b.Lease(t.Context(), key, holder, ttl)
	if err != nil || token > 0 != want || token < 0 {
		t.Errorf("Lease(%q, %q): got %d, %v; want a token: %v", key, holder, token, err, want)
	}
	return token
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
		token, err := b.Lease(t.Context(), "k", "b", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if token > 0 {
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
			token, err := b.Lease(t.Context(), "k", name, time.Minute)
			if err != nil {
				t.Error(err)
			}
			if token > 0 {
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

func fencing(t *testing.T, b bus.Bus) {
	release := func(holder string) {
		t.Helper()
		if err := b.Release(t.Context(), "k", holder); err != nil {
			t.Error(err)
		}
	}
	var last int64
	grow := func(what, holder string, ttl time.Duration) {
		t.Helper()
		token := take(t, b, "k", holder, ttl, true)
		if token <= last {
			t.Errorf("%s: got the token %d after %d", what, token, last)
		}
		if again := take(t, b, "k", holder, ttl, true); again != token {
			t.Errorf("%s: got %d by renewing, want %d still", what, again, token)
		}
		last = token
	}
	grow("the first", "a", time.Minute)
	for range 20 {
		release("a")
		grow("given back, same holder", "a", time.Minute)
	}
	release("a")
	grow("given back, another holder", "b", 50*time.Millisecond)
	for start := time.Now(); ; wait(t, time.Millisecond) {
		name, err := b.Holder(t.Context(), "k")
		if err != nil {
			t.Fatal(err)
		}
		if name == "" {
			break
		}
		if time.Since(start) > patience {
			t.Fatal("the lease does not expire")
		}
	}
	grow("expired, same holder", "b", time.Minute)
}
