package agents

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/svc-gateway/svc/agents/eventlog"
	"github.com/svc-gateway/svc/internal/bus"
)

// leaseTime is how long a run stays this process's without being renewed.
const leaseTime = 30 * time.Second

// errElsewhere is the answer to who wants a run that another process has.
var errElsewhere = errors.New("somebody is at work on the run")

// lease is this process's hold on a run. No two processes have one at a time. One that could not be
// renewed in time, or that the bus has forgotten, is lost if another process has been at work
// meanwhile; the store tells.
type lease struct {
	bus    bus.Bus
	key    string
	holder string // the node and what tells this lease from the others of the process
	token  int64  // changes when somebody takes the lease anew

	// untouched returns nil when nobody else has changed the run. Set before the first renewal;
	// nil: nobody can tell.
	untouched func(context.Context) error

	mu    sync.Mutex
	until time.Time // by this process's clock; read before the bus was asked
}

// holderMark stands between a node's name and the rest of a lease's holder.
const holderMark = "#"

// holder is the node that has a run's lease, empty when nobody has.
func (h *Host) holder(ctx context.Context, run string) (node string, err error) {
	holder, err := h.bus.Holder(ctx, eventlog.Topic(run))
	if err != nil {
		return "", fmt.Errorf("finding the process that has the run: %w", err)
	}
	return holder[:max(0, strings.LastIndex(holder, holderMark))], nil
}

// lease takes the lease on a run; the error is errElsewhere while somebody has it.
func (h *Host) lease(ctx context.Context, run string) (*lease, error) {
	l := &lease{bus: h.bus, key: eventlog.Topic(run), holder: h.node + holderMark + newID(), until: time.Now().Add(leaseTime)}
	var err error
	switch l.token, err = l.bus.Lease(ctx, l.key, l.holder, leaseTime); {
	case err != nil:
		return nil, fmt.Errorf("leasing the run: %w", err)
	case l.token == 0:
		return nil, errElsewhere
	}
	return l, nil
}

// renew prolongs the lease. The error is errLeaseLost when it is not this process's any more; with
// any other error it goes on until it runs out.
func (l *lease) renew(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	asked := time.Now()
	token, err := l.bus.Lease(ctx, l.key, l.holder, leaseTime)
	switch {
	case err == nil && token == l.token:
		l.until = asked.Add(leaseTime)
		return nil
	case err == nil && token != 0: // it was nobody's, and is ours again by this very call
		if l.untouched == nil || l.untouched(ctx) != nil {
			return errors.Join(errLeaseLost, l.bus.Release(ctx, l.key, l.holder))
		}
		l.token, l.until = token, asked.Add(leaseTime)
		return nil
	case err == nil || time.Now().After(l.until):
		return errors.Join(errLeaseLost, err)
	}
	return fmt.Errorf("renewing the lease of a run: %w", err)
}

// held returns nil when the run is this process's now, and prolongs the lease. While the bus cannot
// be asked, a lease that has not run out is believed.
func (l *lease) held(ctx context.Context) error {
	if err := l.renew(ctx); errors.Is(err, errLeaseLost) {
		return err
	}
	return nil
}

func (l *lease) release() error {
	ctx, cancel := context.WithTimeout(context.Background(), leaseTime/10) // or it expires
	defer cancel()
	return l.bus.Release(ctx, l.key, l.holder)
}
