package agents

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/svc-gateway/svc/internal/lease"
)

// LimitError says which limit on runs a user has reached, and when to come back.
type LimitError struct {
	Limit      string // the setting
	RetryAfter time.Duration
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%v: the limit %s is reached", ErrTooManyRuns, e.Limit)
}

func (e *LimitError) Unwrap() error { return ErrTooManyRuns }

// register counts a run of this process in, so that Drain waits for it. It is undone by
// h.runs.Done.
func (h *Host) register() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return ErrStopping
	}
	h.runs.Add(1)
	return nil
}

// room is where the active runs of an owner are counted, over all processes.
func room(owner string) string { return "active." + owner }

// limitParallel is the setting of how many runs of a user are active.
const limitParallel = "limits.parallel_runs"

// enter counts a new run of the owner in, or says why it may not start. The bus forgets runs whose
// process has died.
func (h *Host) enter(ctx context.Context, owner, run string, l Limits) error {
	if err := h.takeRoom(ctx, owner, run, l); err != nil {
		return err
	}
	if err := h.count(ctx, owner, l); err != nil {
		h.leave(owner, run)
		return err
	}
	return nil
}

// takeRoom counts a run among the active ones of the owner, if there is room for it.
func (h *Host) takeRoom(ctx context.Context, owner, run string, l Limits) error {
	ok, err := h.bus.Enter(ctx, room(owner), run, int64(l.ParallelRuns), lease.Time)
	switch {
	case err != nil:
		return fmt.Errorf("counting active runs: %w", err)
	case !ok:
		return &LimitError{limitParallel, time.Second}
	}
	return nil
}

// count counts what an owner starts against the rate that is allowed.
func (h *Host) count(ctx context.Context, owner string, l Limits) error {
	n, reset, err := h.bus.Count(ctx, "runs."+owner, 1, time.Minute)
	switch {
	case err != nil:
		return fmt.Errorf("counting runs: %w", err)
	case n > l.RunsPerMinute:
		return &LimitError{"limits.runs_per_minute", time.Until(reset)}
	}
	return nil
}

// stay counts an active run in for another while, whatever the limit.
func (h *Host) stay(ctx context.Context, owner, run string) error {
	_, err := h.bus.Enter(ctx, room(owner), run, math.MaxInt64, lease.Time)
	return err
}

// leave counts a run of the owner out.
func (h *Host) leave(owner, run string) {
	ctx, cancel := context.WithTimeout(context.Background(), lease.Time/10) // or its place expires
	defer cancel()
	if err := h.bus.Leave(ctx, room(owner), run); err != nil {
		h.log.Debug("counting a run out failed, its place expires", zap.String("run", run), zap.Error(err))
	}
}

// renewals is how many runs are renewed side by side: each asks the bus twice, which may be slow.
const renewals = 64

// renewAll keeps the active runs this process's, and counted in.
func (h *Host) renewAll() {
	var all errgroup.Group
	all.SetLimit(renewals)
	for _, a := range h.activeRuns() {
		all.Go(func() error { h.renew(a); return nil })
	}
	_ = all.Wait() // renew has no error
}

// renew prolongs this process's hold on an active run. One that is lost ends: before its next
// effect, since that asks for the hold, and now, since the bus has said so.
func (h *Host) renew(a *activeRun) {
	ctx, cancel := context.WithTimeout(h.base, lease.Time/3)
	defer cancel()
	err := a.lease.Renew(ctx)
	if err == nil {
		err = h.stay(ctx, a.owner, a.log.Run())
		if h.activeRun(a.log.Run()) == nil { // it has left meanwhile
			h.leave(a.owner, a.log.Run())
		}
	}
	switch {
	case h.base.Err() != nil:
	case errors.Is(err, lease.ErrLost):
		a.cancel(lease.ErrLost)
	case err != nil:
		h.log.Debug("renewing a run's lease failed, trying again", zap.String("run", a.log.Run()), zap.Error(err))
	}
}
