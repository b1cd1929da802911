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
func (rt *Runtime) enter(ctx context.Context, owner string) error {
	if err := rt.admit(owner); err != nil {
		return err
	}
	n, reset, err := rt.bus.Count(ctx, "runs."+owner, 1, time.Minute)
	switch {
	case err != nil:
		rt.leave(owner)
		return fmt.Errorf("counting runs: %w", err)
	case n > rt.limits.RunsPerMinute:
		rt.leave(owner)
		return &LimitError{"limits.runs_per_minute", time.Until(reset)}
	}
	return nil
}

func (rt *Runtime) admit(owner string) error {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	switch {
	case rt.closed:
		return ErrStopping
	case rt.users[owner] >= rt.limits.ParallelRuns:
		return &LimitError{"limits.parallel_runs", time.Second}
	}
	rt.users[owner]++
	rt.runs.Add(1)
	return nil
}

// leave counts a run of the owner out.
func (rt *Runtime) leave(owner string) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if rt.users[owner]--; rt.users[owner] == 0 {
		delete(rt.users, owner)
	}
	rt.runs.Done()
}

// renewLeases keeps the active runs this process's until it is closed.
func (rt *Runtime) renewLeases() {
	tick := time.NewTicker(leaseTime / 3)
	defer tick.Stop()
	for {
		select {
		case <-rt.base.Done():
			return
		case <-tick.C:
		}
		for _, run := range rt.activeIDs() {
			if _, err := rt.bus.Lease(rt.base, topic(run), rt.node, leaseTime); err != nil {
				rt.log.Warn("renewing a run's lease failed")
			}
		}
	}
}

func (rt *Runtime) activeIDs() []string {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	ids := make([]string, 0, len(rt.active))
	for id := range rt.active {
		ids = append(ids, id)
	}
	return ids
}
