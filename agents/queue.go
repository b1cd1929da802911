package agents

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/lease"
	"github.com/svc-gateway/svc/policy"
)

// Runs that wait for their thread, or for their time, are in the store alone. Every process looks for
// those whose turn it is; which one starts a run is decided by the run's lease and by the claim of the
// thread, and the order by the store.

const (
	queueEvery = 2 * time.Second // after which a process looks although nobody told it to
	queueBatch = 64              // runs that are started at a look
)

// lookForNext has the host look for runs that may start now.
func (h *Host) lookForNext() {
	select {
	case h.next <- struct{}{}:
	default: // it has not looked yet
	}
}

// startWaiting starts runs that waited, until the host is closed.
func (h *Host) startWaiting() {
	again := time.NewTimer(0)
	defer again.Stop()
	for {
		select {
		case <-h.base.Done():
			return
		case <-again.C:
		case <-h.next:
		}
		wait, err := h.startDue(h.base, time.Now())
		if err != nil && h.base.Err() == nil {
			h.log.Warn("looking for runs that wait failed, trying again", zap.Error(err))
		}
		again.Reset(wait)
	}
}

// startDue starts the runs whose turn it is, and returns when to look again.
func (h *Host) startDue(ctx context.Context, now time.Time) (wait time.Duration, err error) {
	ids, err := h.store.Queue(ctx, now, queueBatch)
	if err != nil {
		return queueEvery, err
	}
	for _, id := range ids {
		switch err := h.startQueued(ctx, id); {
		case err == nil, ctx.Err() != nil:
		case errors.Is(err, lease.ErrTaken), errors.Is(err, ErrBusy), errors.Is(err, ErrConflict), errors.Is(err, ErrNotFound), errors.Is(err, ErrTooManyRuns):
			// another process is at it, or it is not its turn yet
		default:
			h.log.Error("starting a run that waited failed, trying again", zap.String("run", id), zap.Error(err))
		}
	}
	due, err := h.store.NextDue(ctx, now)
	if err != nil || due.IsZero() {
		return queueEvery, err
	}
	return min(queueEvery, max(time.Until(due), time.Millisecond)), nil
}

// putOff leaves a new run in the store, where it waits. The lease and the registration are let go of.
func (rt *Runtime) putOff(ctx context.Context, r *Run, l *lease.Lease) (*Run, error) {
	rt.leave(r.Owner(), r.ID) // it may have been counted in
	e := runEvent(audit.RunQueued, r)
	e.Input = jsonText(map[string]any{"due": r.Due.Format(audit.TimeFormat), "multitask": r.Multitask, "displaces": r.Displaces})
	if err := rt.audit.Queue(ctx, e); err != nil {
		rt.log.Error("recording a run that waits failed", zap.String("run", r.ID), zap.Error(err))
	}
	if err := rt.letGo(l); err != nil {
		rt.log.Debug("releasing a run failed, its lease expires", zap.String("run", r.ID), zap.Error(err))
	}
	if _, err := rt.displace(ctx, r); err != nil {
		rt.log.Warn("cancelling a run for another one failed, trying again", zap.String("run", r.ID), zap.Error(err))
	}
	rt.lookForNext()
	started := *r
	return &started, nil
}

// displace cancels the runs that a run takes the place of, and reports whether all are over.
func (h *Host) displace(ctx context.Context, r *Run) (over bool, err error) {
	over = true
	for _, id := range r.Displaces {
		info, err := h.store.RunInfo(ctx, id)
		switch {
		case errors.Is(err, ErrNotFound), err == nil && info.Status.Final():
			continue
		case err != nil:
			return false, err
		}
		if err := h.cancel(ctx, id); err != nil && !errors.Is(err, ErrOver) && !errors.Is(err, ErrNotFound) {
			return false, err
		}
		if info, err = h.store.RunInfo(ctx, id); err == nil && !info.Status.Final() {
			over = false
		}
	}
	return over, nil
}

// startQueued starts a run that waited, unless it is not its turn, or its user may not act any more:
// then it ends.
func (h *Host) startQueued(ctx context.Context, id string) error {
	rt := h.serving()
	if rt == nil {
		return nil
	}
	l, r, err := h.seize(ctx, id)
	if err != nil {
		return err
	}
	if r.Status != Pending {
		return h.letGo(l)
	}
	if r.Failure, err = rt.stillFit(ctx, r); err != nil {
		return errors.Join(err, h.letGo(l))
	}
	if r.Failure != nil {
		return errors.Join(h.endAbandoned(ctx, r), h.letGo(l))
	}
	if err := rt.takeTurn(ctx, r); err != nil {
		return errors.Join(err, h.letGo(l))
	}
	ctx = context.WithoutCancel(ctx)
	rt.begin(ctx, r)
	rt.launch(ctx, r, rt.set.Load(), l, 0)
	return nil
}

// stillFit is the reason for which a run that waited may not start; an error says that it cannot be
// found out.
func (rt *Runtime) stillFit(ctx context.Context, r *Run) (*Failure, error) {
	if f := unfit(r); f != nil {
		return f, nil
	}
	p, err := rt.id.Resolve(ctx, r.Principal)
	switch {
	case errors.Is(err, policy.ErrRevoked), errors.Is(err, policy.ErrExpired):
		return principalFailure(err), nil
	case err != nil:
		return nil, fmt.Errorf("resolving the run's user: %w", err)
	case p.Role != r.Principal.Role && policy.Weaker(p.Role, r.Principal.Role) == p.Role:
		return principalFailure(errDemoted), nil
	case !policy.Permitted(p.Role, r.Assistant, "*", policy.Use):
		return &Failure{"forbidden", "the run's user may not use this agent any more"}, nil
	}
	if _, ok := rt.set.Load().agents[r.Assistant]; !ok {
		return &Failure{"unknown_assistant", "the agent is not there any more"}, nil
	}
	return nil, nil
}

// takeTurn has a run that waited claim its thread, once what it displaces is over.
func (rt *Runtime) takeTurn(ctx context.Context, r *Run) error {
	over, err := rt.displace(ctx, r)
	if err != nil {
		return err
	}
	if !over {
		return ErrBusy
	}
	if err := rt.takeRoom(ctx, r.Owner(), r.ID, rt.limits); err != nil {
		return err
	}
	if err := rt.recordRollback(ctx, r); err != nil {
		rt.leave(r.Owner(), r.ID)
		return err
	}
	was := *r
	r.Status, r.Queued, r.Updated = Running, false, time.Now().UTC()
	r.Toolset, r.Policy = rt.set.Load().version, rt.policy.Engine().Hash()
	if err := rt.store.StartRun(ctx, r, r.Frames[0].Messages); err != nil {
		rt.leave(r.Owner(), r.ID)
		*r = was
		return err
	}
	return nil
}

// recordRollback puts on record that a run takes back those in whose place it comes, before it does.
func (rt *Runtime) recordRollback(ctx context.Context, r *Run) error {
	if r.Multitask != MultitaskRollback {
		return nil
	}
	for _, id := range r.Displaces {
		e := eventBy(r.Principal, audit.RunRolledBack)
		e.Run, e.Thread, e.Status, e.Input = id, r.Thread, "started", jsonText(map[string]any{"by": r.ID})
		if err := rt.audit.Record(ctx, e); err != nil {
			return err
		}
	}
	return nil
}
