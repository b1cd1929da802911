package agents

import (
	"context"
	"fmt"
	"time"
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

// enter counts a run of the owner in, or says why it may not start.
func (h *Host) enter(ctx context.Context, owner string, l Limits) error {
	if err := h.admit(owner, l); err != nil {
		return err
	}
	if err := h.count(ctx, owner, l); err != nil {
		h.leave(owner)
		return err
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

func (h *Host) admit(owner string, l Limits) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return ErrStopping
	case h.users[owner] >= l.ParallelRuns:
		return &LimitError{"limits.parallel_runs", time.Second}
	}
	h.users[owner]++
	h.runs.Add(1)
	return nil
}

// leave counts a run of the owner out.
func (h *Host) leave(owner string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.users[owner]--; h.users[owner] == 0 {
		delete(h.users, owner)
	}
	h.runs.Done()
}

// renewLeases keeps the active runs this process's until it is closed.
func (h *Host) renewLeases() {
	tick := time.NewTicker(leaseTime / 3)
	defer tick.Stop()
	for {
		select {
		case <-h.base.Done():
			return
		case <-tick.C:
		}
		for _, run := range h.activeIDs() {
			if _, err := h.bus.Lease(h.base, topic(run), h.node, leaseTime); err != nil {
				h.log.Warn("renewing a run's lease failed")
			}
		}
	}
}

func (h *Host) activeIDs() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	ids := make([]string, 0, len(h.active))
	for id := range h.active {
		ids = append(ids, id)
	}
	return ids
}
