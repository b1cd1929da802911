package identity

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestThrottle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := throttle(make(chan struct{}, 1))
		enter := func() (leave func()) {
			t.Helper()
			leave, err := p.enter(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return leave
		}
		begun := time.Now()
		slow := enter()
		enter()() // comes in when the slow one is taken for waiting
		if got := time.Since(begun); got != patience {
			t.Errorf("got a place after %v, want %v", got, patience)
		}
		quick := enter()
		slow() // must not give back the place of the quick one
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := p.enter(ended); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v while the place is taken, want that the wait ends with its context", err)
		}
		quick()
		begun = time.Now()
		enter()()
		if got := time.Since(begun); got != 0 {
			t.Errorf("got a place that was given back after %v, want at once", got)
		}
	})
}
