package agents

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/svc-gateway/svc/internal/compat"
	"github.com/svc-gateway/svc/internal/lease"
)

// errNotWaiting is the answer to who wants to go on with a run that does not wait.
var errNotWaiting = errors.New("the run does not wait")

// errNotServing is the answer to who wants to go on with a run where no runtime serves.
var errNotServing = errors.New("no configuration of this process goes on with runs")

// Serve makes the runtime the one that goes on with runs that waited, whatever runtime started
// them, and whose retention counts, until the release is called; then the one before it is that again.
func (rt *Runtime) Serve() (release func()) {
	rt.mu.Lock()
	defer rt.mu.Unlock()
	rt.serves = append(rt.serves, rt)
	if !rt.closed {
		rt.sweeps.Do(func() { rt.upkeep.Go(rt.sweepAgain) })
		rt.queue.Do(func() { rt.upkeep.Go(rt.startWaiting) })
	}
	return func() {
		rt.mu.Lock()
		defer rt.mu.Unlock()
		rt.serves = slices.DeleteFunc(rt.serves, func(s *Runtime) bool { return s == rt })
	}
}

// serving is the runtime that goes on with runs that waited; nil when there is none.
func (h *Host) serving() *Runtime {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := len(h.serves); n > 0 {
		return h.serves[n-1]
	}
	return nil
}

// resume goes on with a run that waits, in this process. The error is lease.ErrTaken while another
// process is at work on it, and errNotWaiting when the run does something else than wait.
func (h *Host) resume(ctx context.Context, run string) error {
	return h.resumeWith(ctx, run, func(*Run) error { return nil })
}

// resumeWith is resume with a change of the run before it goes on.
func (h *Host) resumeWith(ctx context.Context, run string, change func(*Run) error) error {
	rt := h.serving()
	if rt == nil {
		return errNotServing
	}
	l, r, err := h.seize(ctx, run)
	if err != nil {
		return err
	}
	if r.Status != Interrupted {
		return errors.Join(errNotWaiting, h.letGo(l))
	}
	if f := unfit(r); f != nil {
		r.Failure = f
		return errors.Join(h.endAbandoned(ctx, r), h.letGo(l))
	}
	if err := change(r); err != nil {
		return errors.Join(err, h.letGo(l))
	}
	if err := rt.goOn(ctx, r, l); err != nil {
		return errors.Join(err, h.letGo(l))
	}
	return nil
}

// goOn saves that a run works again and starts a driver for it, which has the lease from then on.
func (rt *Runtime) goOn(ctx context.Context, r *Run, l *lease.Lease) error {
	set := rt.set.Load()
	r.woken()
	r.Status, r.Toolset, r.Updated = Running, set.version, time.Now().UTC()
	next, err := rt.store.NextEvent(ctx, r.ID)
	if err != nil {
		return err
	}
	if err := rt.stay(ctx, r.Owner(), r.ID); err != nil {
		return fmt.Errorf("counting active runs: %w", err)
	}
	if err := rt.store.ResumeRun(ctx, r); err != nil {
		rt.leave(r.Owner(), r.ID)
		return err
	}
	rt.launch(context.WithoutCancel(ctx), r, set, l, next)
	return nil
}

// unfit is the reason for which this program cannot go on with a stored run.
func unfit(r *Run) *Failure {
	if err := compat.Check(r.Harness); err != nil {
		return &Failure{"harness_version", err.Error()}
	}
	return nil
}

// seize makes a run that no process is at work on this one's, and reads it. The caller passes the
// lease on to a driver or gives it to letGo.
func (h *Host) seize(ctx context.Context, run string) (*lease.Lease, *Run, error) {
	if err := h.register(); err != nil {
		return nil, nil, err
	}
	l, err := h.lease(ctx, run)
	if err != nil {
		h.runs.Done()
		return nil, nil, err
	}
	r, err := h.store.Run(ctx, run)
	if err != nil && !errors.Is(err, ErrUnreadable) { // an unreadable one has a version that is unfit
		return nil, nil, errors.Join(err, h.letGo(l))
	}
	return l, r, nil
}

// letGo undoes seize, and the registration of a run that has ended or waits.
func (h *Host) letGo(l *lease.Lease) error {
	defer h.runs.Done()
	return l.Release()
}
