package turns

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestOrder holds that holders take turns, and that the works of one end in the order they joined.
func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(1)
		first := q.Join("x")
		if err := first.Take(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		var order []string
		var wg sync.WaitGroup
		works := map[string]*Turn{}
		for _, name := range []string{"a1", "a2", "a3", "b1", "c1"} {
			works[name] = q.Join(name[:1])
		}
		for _, name := range []string{"a3", "a1", "b1", "a2", "c1"} { // who asks first is not who joined first
			wg.Go(func() {
				if err := works[name].Take(t.Context(), time.Hour); err != nil {
					t.Error(err)
				}
				order = append(order, name)
				works[name].Give()
			})
			synctest.Wait()
		}
		if !first.Give() {
			t.Error("nobody waited")
		}
		wg.Wait()
		if got, want := strings.Join(order, " "), "a1 b1 c1 a2 a3"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if len(q.waiting) > 0 || len(q.holders) > 0 || q.free != 1 {
			t.Errorf("left: %+v", q)
		}
	})
}

func TestGivingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(0)
		has, late, gone := q.Join("a"), q.Join("b"), q.Join("b")
		if err := errors.Join(has.Take(t.Context(), 0), has.Take(t.Context(), 0)); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if err := late.Take(t.Context(), time.Minute); !errors.Is(err, ErrBusy) || time.Since(began) != time.Minute {
			t.Errorf("got %v after %s", err, time.Since(began))
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		left := errors.New("the client left")
		cancel(left)
		if err := gone.Take(ctx, time.Minute); !errors.Is(err, left) {
			t.Errorf("got %v", err)
		}
		if late.Give() || has.Give() || has.Give() {
			t.Error("somebody waits")
		}
		if len(q.waiting) > 0 || len(q.holders) > 0 || q.free != 1 {
			t.Errorf("left: %+v", q)
		}
	})
}

// TestPlaces holds that no more work at once than there are places, however many give up.
func TestPlaces(t *testing.T) {
	q := New(2)
	var mu sync.Mutex
	var wg sync.WaitGroup
	working, most := 0, 0
	count := func(d int) {
		mu.Lock()
		defer mu.Unlock()
		working += d
		most = max(most, working)
	}
	for i := range 40 {
		wg.Go(func() {
			turn := q.Join(string(rune('a' + i%7)))
			for range 200 {
				if turn.Take(t.Context(), time.Duration(i%4)*time.Microsecond) == nil {
					count(1)
					count(-1)
					turn.Give()
				}
			}
		})
	}
	wg.Wait()
	if most > 2 || q.free != 2 || len(q.holders) > 0 || len(q.waiting) > 0 {
		t.Errorf("%d worked at once; left: %+v", most, q)
	}
}
