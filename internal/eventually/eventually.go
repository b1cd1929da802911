// Package eventually has tests wait for what other goroutines and processes do without telling.
package eventually

import (
	"testing"
	"time"
)

const (
	patience = 20 * time.Second
	again    = 5 * time.Millisecond
)

// True polls until ok holds. It ends the test when that takes more than 20 seconds.
func True(tb testing.TB, what string, ok func() bool) {
	tb.Helper()
	tick, late := time.NewTicker(again), time.After(patience)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-late:
			tb.Fatalf("waited %s for: %s", patience, what)
		}
	}
}
