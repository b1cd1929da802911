package agents

import (
	"context"
	"errors"
	"math"

	"github.com/svc-gateway/svc/audit"
)

// DeleteRun removes a run that is over from the thread's list, with its events. What it said stays in
// the thread. The error is [ErrBusy] when it is not over. The removal is on record before it begins.
func (v View) DeleteRun(ctx context.Context, thread, id string) error {
	h, err := v.Run(ctx, thread, id)
	if err != nil {
		return err
	}
	if !h.Status.Final() {
		return ErrBusy
	}
	e := eventBy(v.p, audit.RunDeleted)
	e.Run, e.Thread = id, h.Thread
	return v.rt.audit.Around(ctx, e, func(*audit.Event) error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deleteTime)
		defer cancel()
		return v.rt.store.RemoveRun(ctx, id)
	})
}

// Interrupts are what a run waits for.
func (v View) Interrupts(ctx context.Context, thread, id string) ([]Interrupt, error) {
	h, err := v.Run(ctx, thread, id)
	if err != nil || h.Status.Final() {
		return nil, err
	}
	r, err := v.rt.store.Run(ctx, id)
	if err != nil {
		return nil, err
	}
	return v.rt.interrupts(ctx, r)
}

// Resume goes on with a run that stands at a stop. The error is [ErrNotInterrupted] when none does.
func (v View) Resume(ctx context.Context, thread string, res Resumption) (Handle, error) {
	for field, nodes := range map[string][]string{"interrupt_before": res.InterruptBefore, "interrupt_after": res.InterruptAfter} {
		if err := checkNodes(field, nodes); err != nil {
			return Handle{}, err
		}
	}
	if res.Run == "" {
		if _, err := v.Thread(ctx, thread); err != nil {
			return Handle{}, err
		}
		waiting, err := v.rt.store.Runs(ctx, RunFilter{Thread: thread, Status: []Status{Running, Interrupted}, Limit: 1})
		if err != nil {
			return Handle{}, err
		}
		if len(waiting) == 0 {
			return Handle{}, ErrNotInterrupted
		}
		res.Run = waiting[0].ID
	}
	h, err := v.Run(ctx, thread, res.Run)
	if err != nil {
		return h, err
	}
	if h.Status != Interrupted {
		return h, ErrNotInterrupted
	}
	err = v.rt.pass(ctx, h.ID, func(r *Run) error {
		if _, ok := r.stopped(); !ok {
			return ErrNotInterrupted
		}
		if res.InterruptBefore != nil {
			r.Stops.Before = res.InterruptBefore
		}
		if res.InterruptAfter != nil {
			r.Stops.After = res.InterruptAfter
		}
		r.pass()
		return nil
	})
	if err != nil {
		return h, err
	}
	h.Status = Running
	return h, nil
}

// pass goes on with a run that waits, after a change, wherever it is. A run that is active is about to
// wait, or does not.
func (h *Host) pass(ctx context.Context, run string, change func(*Run) error) error {
	return h.reach(ctx, run, doPass, func(ctx context.Context) (answer, error) {
		if h.activeRun(run) != nil {
			return answerAbsent, nil
		}
		err := h.resumeWith(ctx, run, change)
		if errors.Is(err, errNotWaiting) {
			err = ErrNotInterrupted
		}
		return answerDone, err
	})
}

// Rollback cancels the run, if it is not over, and takes back what it did: the thread stands where it
// stood before, and the run is not listed any more. The error is [ErrBusy] when something has followed
// it. It is on record before.
func (h Handle) Rollback(ctx context.Context) error {
	if err := h.Cancel(ctx); err != nil && !errors.Is(err, ErrOver) {
		return err
	}
	for _, err := range h.Follow(ctx, math.MaxInt32) { // until its end is saved
		if err != nil {
			return err
		}
	}
	e := eventBy(h.p, audit.RunRolledBack)
	e.Run, e.Thread = h.ID, h.Thread
	return h.host.audit.Around(ctx, e, func(*audit.Event) error { return h.host.store.RollBack(ctx, h.ID) })
}
