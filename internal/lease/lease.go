// Package lease is a process's hold on a thing that no two processes may work on at a time.
//
//	l, err := lease.Take(ctx, bus, "run.42", holder)
//	if l.Held(ctx) == nil { … }
//
// A lease runs out unless it is renewed. One that could not be renewed in time, or that the bus has
// forgotten, is lost if another process has been at work meanwhile. A Lease may be used by many goroutines.
package lease

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/svc-gateway/svc/internal/bus"
)

// Time is how long a lease lasts without being renewed.
const Time = 30 * time.Second

var (
	// ErrTaken is the answer to who wants what another process has.
	ErrTaken = errors.New("another process is at work on it")
	// ErrLost is matched when a lease is this process's no more.
	ErrLost = errors.New("another process may be at work on it")
)

// Lease is a hold on a thing. Get one with [Take].
type Lease struct {
	bus    bus.Bus
	key    string
	holder string
	token  int64 // changes when somebody takes the lease anew

	// Untouched returns nil when nobody else has changed the thing. Set it before the first renewal;
	// nil: nobody can tell.
	Untouched func(context.Context) error

	mu    sync.Mutex
	until time.Time // by this process's clock; read before the bus was asked
}

// Take takes the lease on a key. holder tells it from all other leases. The error is [ErrTaken] while
// somebody has it.
func Take(ctx context.Context, b bus.Bus, key, holder string) (*Lease, error) {
	l := &Lease{bus: b, key: key, holder: holder, until: time.Now().Add(Time)}
	var err error
	switch l.token, err = b.Lease(ctx, key, holder, Time); {
	case err != nil:
		return nil, fmt.Errorf("leasing %s: %w", key, err)
	case l.token == 0:
		return nil, ErrTaken
	}
	return l, nil
}

// Renew prolongs the lease. The error is [ErrLost] when it is not this process's any more; with
// any other error it goes on until it runs out.
func (l *Lease) Renew(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	asked := time.Now()
	token, err := l.bus.Lease(ctx, l.key, l.holder, Time)
	switch {
	case err == nil && token == l.token:
		l.until = asked.Add(Time)
		return nil
	case err == nil && token != 0: // it was nobody's, and is ours again by this very call
		if l.Untouched == nil || l.Untouched(ctx) != nil {
			return errors.Join(ErrLost, l.bus.Release(ctx, l.key, l.holder))
		}
		l.token, l.until = token, asked.Add(Time)
		return nil
	case err == nil || time.Now().After(l.until):
		return errors.Join(ErrLost, err)
	}
	return fmt.Errorf("renewing the lease of %s: %w", l.key, err)
}

// Held returns nil when the thing is this process's now, and prolongs the lease. While the bus cannot
// be asked, a lease that has not run out is believed.
func (l *Lease) Held(ctx context.Context) error {
	if err := l.Renew(ctx); errors.Is(err, ErrLost) {
		return err
	}
	return nil
}

// Release gives the lease back.
func (l *Lease) Release() error {
	ctx, cancel := context.WithTimeout(context.Background(), Time/10) // or it expires
	defer cancel()
	return l.bus.Release(ctx, l.key, l.holder)
}
