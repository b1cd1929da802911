package memory

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/audit"
)

const (
	sweepEvery = time.Hour
	sweepBatch = 200 // memories that are removed at a time: everybody else who writes waits meanwhile
)

// Serve removes memories that were of no use for long, from time to time, until ctx ends.
func (k *Keeper) Serve(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		if err := k.Sweep(ctx); err != nil && ctx.Err() == nil {
			k.Log.Warn("removing memories that were of no use failed, trying again", zap.Error(err))
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Sweep removes all memories that were of no use for as long as they are kept, and puts their number on
// record.
func (k *Keeper) Sweep(ctx context.Context) error {
	gone := 0
	for {
		n, err := k.Store.SweepMemories(ctx, k.Now().Add(-k.Keep), sweepBatch)
		if err != nil {
			return err
		}
		if gone += n; n == 0 {
			break
		}
	}
	if gone == 0 {
		return nil
	}
	output, err := text(map[string]any{"memories": gone})
	if err != nil {
		return err
	}
	return k.Audit.Queue(ctx, audit.Event{Type: audit.MemoryForgotten, Status: "success", Output: output, Reasons: []string{"memory.keep: of no use for " + k.Keep.String()}})
}
