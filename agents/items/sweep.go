package items

import (
	"context"
	"time"

	"go.uber.org/zap"
)

const (
	sweepEvery = time.Minute
	sweepBatch = 200 // items that are removed at a time: everybody else who writes waits meanwhile
)

// Serve removes items that have expired, from time to time, until ctx ends.
func (k *Keeper) Serve(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		if err := k.Sweep(ctx); err != nil && ctx.Err() == nil {
			k.Log.Warn("removing items that have expired failed, trying again", zap.Error(err))
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Sweep removes all items that have expired.
func (k *Keeper) Sweep(ctx context.Context) error {
	for {
		n, err := k.Store.SweepItems(ctx, k.Now(), sweepBatch)
		if err != nil || n == 0 {
			return err
		}
	}
}
