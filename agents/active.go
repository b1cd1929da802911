package agents

import "context"

// activeRun is a run that a driver of this process works on. Its flags are guarded by the host's
// mutex.
type activeRun struct {
	log    *eventLog
	lease  *lease
	owner  string
	cancel context.CancelCauseFunc
	news   chan struct{} // capacity 1: calls that wait are to be looked at again

	ending    bool // how the run ends is decided
	cancelled bool // it was asked for in time
	wakes     int  // how often there was news for the calls that wait
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

// deactivate takes a run out. What was asked of it and not heeded stands in its flags, which
// nobody changes any more.
func (h *Host) deactivate(run string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.active, run)
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
