package redis

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svc-gateway/svc/internal/bus"
)

const (
	routine  = 5 * time.Second // between two probes of a server that works
	minPause = 50 * time.Millisecond
	maxPause = time.Second // between two probes of one that does not
)

// verdict is what is known of one half of the bus. Its zero value is a half that works.
type verdict struct {
	err   *unavailable // why it does not work
	tried bool         // and that was tried again: it is no hiccup
}

// keeper knows whether the server does what it is told, and whether it is heard.
type keeper struct {
	probe   func(context.Context) error
	timeout time.Duration
	trouble func(error)
	back    func() // called when operations work again
	miss    func() // tells subscribers that messages may be missing
	wake    chan struct{}

	mu      sync.Mutex
	works   verdict
	hears   verdict
	current atomic.Pointer[bus.Health]

	telling sync.Mutex
	told    bool
}

var errNotAsked = &unavailable{reasonUnreachable, errors.New("not connected yet")}

func newKeeper(probe func(context.Context) error, timeout time.Duration, trouble func(error)) *keeper {
	k := &keeper{
		probe: probe, timeout: timeout, trouble: trouble, back: func() {}, miss: func() {}, wake: make(chan struct{}, 1),
		works: verdict{err: errNotAsked}, hears: verdict{err: errNotAsked},
	}
	k.publish()
	return k
}

func (k *keeper) health() bus.Health { return *k.current.Load() }

// publish makes the state seen; the caller holds mu, or is the only one.
func (k *keeper) publish() {
	h := bus.Health{Kind: kind, Connected: true, Since: time.Now()}
	for _, v := range []verdict{k.hears, k.works} { // the second says more
		if v.err != nil {
			h.Connected, h.Reason, h.Err = false, v.err.reason, v.err
		}
	}
	if last := k.current.Load(); last != nil && last.Connected == h.Connected {
		h.Since = last.Since
	}
	k.current.Store(&h)
}

// away returns why an operation need not be tried. One that nothing stands in for is tried as long
// as the server is only suspected.
func (k *keeper) away(standIn bool) error {
	if k.current.Load().Connected {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.works.err != nil && (standIn || k.works.tried || k.works.err == errNotAsked) {
		return k.works.err
	}
	return nil
}

// suspect hears of an operation that failed and returns its error for the caller. A probe follows.
// What a server refuses for no reason that we know may be about this key only.
func (k *keeper) suspect(err error) error {
	u := trouble(err)
	k.mu.Lock()
	if k.works.err == nil && u.reason != reasonRefused {
		k.works = verdict{err: u}
		k.publish()
	}
	k.mu.Unlock()
	select {
	case k.wake <- struct{}{}:
	default:
	}
	return u
}

// check probes the server.
func (k *keeper) check(ctx context.Context) (ok bool) {
	inTime, cancel := context.WithTimeout(ctx, k.timeout)
	defer cancel()
	err := k.probe(inTime)
	if ctx.Err() != nil {
		return true // nobody asks any more
	}
	k.mu.Lock()
	was := k.works.err
	k.works = verdict{}
	if err != nil {
		k.works = verdict{trouble(err), true}
	}
	k.publish()
	k.mu.Unlock()
	if err == nil && was != nil {
		k.back()
	}
	k.tell()
	return err == nil
}

// heard says whether the server is heard; tried that it was not although it was tried again.
func (k *keeper) heard(err error, tried bool) {
	k.mu.Lock()
	k.hears = verdict{}
	if err != nil {
		k.hears = verdict{trouble(err), tried}
	}
	k.publish()
	k.mu.Unlock()
	k.tell()
}

// tell says once that the bus is cut off, and once that it is back. Subscribers hear of both:
// also where only operations fail, others cannot publish.
func (k *keeper) tell() {
	k.telling.Lock()
	defer k.telling.Unlock()
	k.mu.Lock()
	works, hears := k.works, k.hears
	k.mu.Unlock()
	why := works
	if !why.tried {
		why = hears
	}
	var report error
	switch {
	case why.tried && !k.told:
		report = why.err
	case k.told && works.err == nil && hears.err == nil:
	default:
		return
	}
	k.told = !k.told
	k.miss()
	if k.trouble != nil {
		k.trouble(report)
	}
}

// run probes the server, at once when it is suspected, until ctx ends.
func (k *keeper) run(ctx context.Context) {
	pause := minPause
	timer := time.NewTimer(minPause)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-k.wake:
			pause = minPause
		case <-timer.C:
		}
		if k.check(ctx) {
			pause = minPause
			timer.Reset(routine)
			continue
		}
		timer.Reset(pause)
		pause = min(2*pause, maxPause)
	}
}
