package bus

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// A million addresses that fail to log in once must not stay in memory for ever.
func TestDeadEntriesGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory()
		for i := range 100_000 {
			if i%1000 == 0 {
				time.Sleep(time.Second) // fake
			}
			if _, _, err := m.Count(t.Context(), fmt.Sprint(i), 1, time.Second); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(m.counters.m); n > 4096 {
			t.Errorf("got %d entries of which at most 1000 are alive", n)
		}
	})
}
