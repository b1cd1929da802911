package budget_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svc-gateway/svc/internal/budget"
)

func TestShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(400)
		ada, again := b.Hold("ada"), b.Hold("ada")
		if err := ada.Take(t.Context(), 60); err != nil {
			t.Fatal(err)
		}
		if err := again.Take(t.Context(), 41); !errors.Is(err, budget.ErrFull) {
			t.Errorf("more than a quarter: got %v, want %v", err, budget.ErrFull)
		}
		if err := again.Take(t.Context(), 40); err != nil {
			t.Errorf("a quarter in two: got %v", err)
		}
		for i := range 3 {
			if err := b.Hold(fmt.Sprint(i)).Take(t.Context(), 100); err != nil {
				t.Errorf("holder %d: got %v", i, err)
			}
		}
		begun := time.Now()
		if err := b.Hold("eve").Take(t.Context(), 1); !errors.Is(err, budget.ErrFull) || time.Since(begun) != time.Second {
			t.Errorf("beyond the whole: got %v after %v, want %v after a second", err, time.Since(begun), budget.ErrFull)
		}
		go func() {
			time.Sleep(time.Second / 2) // fake
			ada.Release()
			ada.Release()
		}()
		if err := b.Hold("eve").Take(t.Context(), 60); err != nil {
			t.Errorf("once somebody has released: got %v", err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errors.New("gone"))
		if err := b.Hold("bob").Take(ctx, 100); err == nil || err.Error() != "gone" {
			t.Errorf("a caller that has gone: got %v", err)
		}
	})
}

func TestNothingIsLostOrGainedBetweenMany(t *testing.T) {
	b := budget.New(1000)
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			for range 200 {
				h := b.Hold(fmt.Sprint(i % 5))
				if err := h.Take(t.Context(), 100); err == nil {
					_ = h.Take(t.Context(), 50)
				}
				h.Release()
			}
		})
	}
	group.Wait()
	for i := range 4 {
		if err := b.Hold(fmt.Sprint("last ", i)).Take(t.Context(), 250); err != nil {
			t.Errorf("after all have released: %v", err)
		}
	}
}
