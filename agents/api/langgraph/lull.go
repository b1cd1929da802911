package langgraph

import (
	"context"
	"errors"
	"sync"

	"github.com/svc-gateway/svc/agents/api/rest"
	"github.com/svc-gateway/svc/policy"
)

// lull is how a reader of a thread learns that the service stops: while a run is under way it sees how that
// ends, and while nothing happens it does not wait for the next one.
type lull struct {
	mu       sync.Mutex
	busy     bool
	stopping bool
	stop     context.CancelCauseFunc
}

// watch returns the context to read in. The function ends the watching.
func (l *lull) watch(ctx context.Context) (still context.Context, done func()) {
	still, gone := rest.UntilGone(ctx)
	still, l.stop = context.WithCancelCause(still)
	forget := context.AfterFunc(ctx, func() {
		if !errors.Is(context.Cause(ctx), policy.ErrStopping) {
			return // it has ended, and says why
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.stopping = true; !l.busy {
			l.stop(policy.ErrStopping)
		}
	})
	return still, func() { forget(); l.stop(nil); gone() }
}

// set says whether a run is under way. The error is [policy.ErrStopping] when none is and the service stops.
func (l *lull) set(busy bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.busy = busy; !busy && l.stopping {
		return policy.ErrStopping
	}
	return nil
}
