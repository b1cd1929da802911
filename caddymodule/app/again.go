package app

import (
	"context"
	"time"
)

// inBackground runs f until stop is called, which waits for f.
func inBackground(ctx context.Context, f func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}

// again calls f now and then every pause, until ctx ends.
func again(ctx context.Context, pause time.Duration, f func()) {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for ctx.Err() == nil {
		f()
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}
