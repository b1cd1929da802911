package agents

import (
	"context"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/hook"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/bus"
	"github.com/svc-gateway/svc/internal/errand"
	"github.com/svc-gateway/svc/internal/lease"
	"github.com/svc-gateway/svc/policy"
)

// HostConfig is what a host works with. Fields without a default are required.
type HostConfig struct {
	Store    Store // closed with the host
	Audit    *audit.Log
	Identity Identity
	Bus      bus.Bus
	Node     string // names this process, and no other, among those that share the store
	Log      *zap.Logger

	// Hooks are told of sessions and calls. They are the caller's to close, after the host. Default: none.
	Hooks *hook.Hooks
}

// Host is where runs live: it owns what is active in this process, whatever setup it was
// started with, and takes orders about its runs from other processes. Make runtimes with
// [Host.Runtime].
type Host struct {
	store Store
	audit *audit.Log
	id    Identity
	bus   bus.Bus
	node  string
	log   *zap.Logger
	hooks *hook.Hooks // nil: none

	base   context.Context // of every run; ends with Close
	stop   context.CancelCauseFunc
	mu     sync.Mutex
	active map[string]*activeRun
	serves []*Runtime // the last one goes on with runs that waited
	closed bool
	runs   sync.WaitGroup // from being let in to having left
	upkeep sync.WaitGroup
	watch  sync.Once     // starts the watch for runs of processes that died
	sweeps sync.Once     // starts the removal of what is old
	queue  sync.Once     // starts the start of runs that wait
	next   chan struct{} // capacity 1: a run that waits may start
}

// Open returns a host that is ready. It changes nothing in the store: other processes may still
// be at work on it. [Host.Recover] does.
func Open(c HostConfig) *Host {
	base, stop := context.WithCancelCause(context.Background())
	h := &Host{
		store: c.Store, audit: c.Audit, id: c.Identity, bus: c.Bus, node: c.Node, log: c.Log, hooks: c.Hooks,
		base: base, stop: stop, active: map[string]*activeRun{}, next: make(chan struct{}, 1),
	}
	h.upkeep.Go(func() { h.every(lease.Time/3, h.renewAll) })
	orders := errand.Listen(h.bus, h.node)
	h.upkeep.Go(func() {
		errand.Serve(h.base, h.bus, orders, h.log, errand.Handler{Do: func(e errand.Errand) string { return string(h.obey(e)) }, Missed: h.renewAll})
	})
	return h
}

// Drain starts and resumes no more runs, lets the active ones end or wait until ctx ends, and then
// closes those that are left. It returns when no run is active.
func (h *Host) Drain(ctx context.Context) {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	idle := make(chan struct{})
	go func() { h.runs.Wait(); close(idle) }()
	select {
	case <-idle:
	case <-ctx.Done():
	}
	h.stop(errRestart)
	<-idle
}

// Close ends what is active and closes the store.
func (h *Host) Close() error {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	h.Drain(over)
	h.upkeep.Wait()
	return h.store.Close()
}

// every does the same again and again until the host is closed.
func (h *Host) every(d time.Duration, do func()) {
	tick := time.NewTicker(d)
	defer tick.Stop()
	for {
		select {
		case <-h.base.Done():
			return
		case <-tick.C:
			do()
		}
	}
}

// eventBy is a record of what a principal does.
func eventBy(p policy.Principal, typ string) audit.Event {
	return audit.Event{
		Type: typ, User: p.User, Role: string(p.Role), OnBehalfOf: p.OnBehalfOf,
		Address: p.Address, TokenID: p.TokenID, RequestID: p.RequestID,
	}
}

// runEvent is a record of a run's start or end.
func runEvent(typ string, r *Run) audit.Event {
	e := eventBy(r.Principal, typ)
	e.Run, e.Thread, e.Agent = r.ID, r.Thread, r.Assistant
	e.Status, e.Labels = string(r.Status), r.Frames[0].Labels
	return e
}
