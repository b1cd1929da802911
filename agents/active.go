package agents

import (
	"context"
	"sync"

	"github.com/svc-gateway/svc/internal/lease"
)

// activeRun is a run that a driver of this process works on. Its flags are guarded by the host's
// mutex.
type activeRun struct {
	log    *eventLog
	lease  *lease.Lease
	owner  string
	cancel context.CancelCauseFunc
	news   chan struct{} // capacity 1: calls that wait are to be looked at again

	ending    bool // how the run ends is decided
	cancelled bool // it was asked for in time
	wakes     int  // how often there was news for the calls that wait

	saving  sync.Mutex
	version int64 // as this process saved the run last; guarded by saving
}

// held returns nil when the run is this process's now, and ends the run when it is not.
func (a *activeRun) held(ctx context.Context) error {
	err := a.lease.Held(ctx)
	if err != nil {
		a.cancel(lease.ErrLost)
	}
	return err
}

// save changes the stored run with one of the store's methods that compare and swap.
func (a *activeRun) save(ctx context.Context, write func(context.Context, *Run) error, r *Run) error {
	a.saving.Lock()
	defer a.saving.Unlock()
	err := write(ctx, r)
	a.version = r.Version
	return err
}

// untouched returns nil when the stored run is as this process saved it last.
func (h *Host) untouched(ctx context.Context, a *activeRun) error {
	a.saving.Lock()
	defer a.saving.Unlock()
	info, err := h.store.RunInfo(ctx, a.log.Run())
	if err == nil && info.Version != a.version {
		err = ErrConflict
	}
	return err
}

func (h *Host) activeRun(run string) *activeRun {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.active[run]
}

func (h *Host) activate(run string, a *activeRun) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.active[run] = a
}

// deactivate takes a run out that has ended.
func (h *Host) deactivate(run string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.active, run)
}

// pause takes a run out that waits, unless something was asked of it that its driver has not heeded:
// more news than it has looked at, or to be cancelled.
func (h *Host) pause(run string, a *activeRun, looked int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if a.cancelled || a.wakes != looked {
		return false
	}
	delete(h.active, run)
	return true
}

// activeRuns are the runs that are active now.
func (h *Host) activeRuns() []*activeRun {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make([]*activeRun, 0, len(h.active))
	for _, a := range h.active {
		all = append(all, a)
	}
	return all
}

// cancelActive cancels a run that is active here. It is accepted until the run's end is decided.
func (h *Host) cancelActive(run string) (here, accepted bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	a := h.active[run]
	if a == nil || a.ending {
		return a != nil, false
	}
	a.cancelled = true
	a.cancel(errCancelled)
	return true, true
}

// wakeActive has a run that is active here look at its waiting calls again.
func (h *Host) wakeActive(run string) (here bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	a := h.active[run]
	if a == nil {
		return false
	}
	a.wakes++
	select {
	case a.news <- struct{}{}:
	default: // it has not looked yet
	}
	return true
}

// wakesOf counts the news that there has been for a run's waiting calls.
func (h *Host) wakesOf(a *activeRun) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return a.wakes
}

// decideEnd closes the door to cancelling and reports whether it was asked for before.
func (h *Host) decideEnd(a *activeRun) (cancelled bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	a.ending = true
	return a.cancelled
}
