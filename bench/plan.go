package main

import (
	"context"
	"time"
)

// plan says how much is measured.
type plan struct {
	name     string
	rounds   int
	warm     time.Duration // of each measurement, not counted
	stage    time.Duration // of a round through (a) or (b)
	run      time.Duration // of a round of agent runs
	starts   int
	settle   time.Duration // until memory is read
	streams  int
	threads  int    // that are kept
	audit    string // -benchtime of the audit benchmark
	bursts   bool
	children bool // runs with a child process

	sandboxes int // of a round, and as many of bubblewrap
}

var fullPlan = plan{
	name: "full", rounds: 3, warm: 300 * time.Millisecond, stage: 2 * time.Second, run: 2 * time.Second,
	starts: 5, settle: 5 * time.Second, streams: 5000, threads: 10_000, audit: "3s", bursts: true, children: true,
	sandboxes: 200,
}

var quickPlan = plan{
	name: "quick", rounds: 1, warm: 150 * time.Millisecond, stage: 700 * time.Millisecond, run: 700 * time.Millisecond,
	starts: 2, settle: time.Second, streams: 5000, threads: 1000, audit: "1s", children: true,
	sandboxes: 100,
}

// pause waits, or returns early with the context's error.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// until polls for a condition.
func until(ctx context.Context, ok func() bool) error {
	for !ok() {
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}
