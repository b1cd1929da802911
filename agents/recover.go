package agents

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/bus"
	"github.com/svc-gateway/svc/internal/lease"
	"github.com/svc-gateway/svc/policy"
)

// recoverBatch is how many abandoned runs are listed at a time.
const recoverBatch = 256

// Recover closes the runs that a process left behind when it died: those that are neither over nor
// wait, and whose lease nobody holds. Nothing is repeated: a call that had started and has no
// outcome gets the outcome unknown. A process calls it first when it knows that it alone, or with
// others on one bus, works on the store; from then on the host looks by itself from time to time.
func (h *Host) Recover(ctx context.Context) error {
	defer h.watch.Do(func() { h.upkeep.Go(h.watchOthers) })
	filter := RunFilter{Status: []Status{Running}, Limit: recoverBatch}
	for {
		runs, err := h.store.Runs(ctx, filter)
		if err != nil {
			return fmt.Errorf("listing unfinished runs: %w", err)
		}
		for _, r := range runs {
			filter.Before = r.ID
			switch err := h.recoverRun(ctx, r.ID); {
			case err == nil, errors.Is(err, ErrConflict): // somebody else is at it
			case ctx.Err() != nil, errors.Is(err, bus.ErrUnavailable), errors.Is(err, ErrUnavailable), errors.Is(err, audit.ErrUnavailable):
				return fmt.Errorf("closing run %s of an earlier process: %w", r.ID, err)
			default: // the others can be closed nevertheless, and this one perhaps next time
				h.log.Error("closing a run of an earlier process failed", zap.String("run", r.ID), zap.Error(err))
			}
		}
		if len(runs) < recoverBatch {
			return nil
		}
	}
}

// watchOthers closes runs of processes that have died since.
func (h *Host) watchOthers() {
	h.every(lease.Time, func() {
		if err := h.Recover(h.base); err != nil && h.base.Err() == nil {
			h.log.Warn("looking for abandoned runs failed, trying again", zap.Error(err))
		}
	})
}

// recoverRun closes a run unless somebody holds its lease, or has closed it meanwhile.
func (h *Host) recoverRun(ctx context.Context, run string) error {
	if h.activeRun(run) != nil {
		return nil // its lease is the driver's to renew, or to lose
	}
	l, r, err := h.seize(ctx, run)
	if errors.Is(err, lease.ErrTaken) {
		return nil
	}
	if err != nil {
		return err
	}
	if r.Status == Running {
		if f := unfit(r); f != nil {
			r.Failure = f
		} else if r.Failure == nil {
			r.Failure = endedBy(errRestart)
		}
		if err = h.endAbandoned(ctx, r); err == nil {
			h.log.Warn("closed a run that an earlier process left behind", zap.String("run", r.ID), zap.String("thread", r.Thread))
		}
	}
	return errors.Join(err, h.letGo(l))
}

// endAbandoned ends a run that has no driver, for its Failure. The caller has the lease. What it has
// begun it goes on with, whoever leaves; what it cannot finish is for Recover. The error is
// ErrConflict when somebody else changes the run meanwhile.
func (h *Host) endAbandoned(ctx context.Context, r *Run) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lease.Time/2)
	defer cancel()
	if err := h.audit.Healthy(ctx); err != nil {
		return err // an end that cannot be recorded is left for later
	}
	if len(r.Frames) == 0 {
		r.Frames = []Frame{{Agent: r.Assistant}}
	}
	e := ending{cause: errDied}
	if r.Status == Interrupted { // nothing was under way
		e.cause = r.Failure.cause()
	}
	// From here on nobody who had the run before can change it.
	r.Status = Running
	if err := h.store.SaveRun(ctx, r); err != nil {
		return err
	}
	if err := h.trace(ctx, r, &e); err != nil {
		return err
	}
	next, err := h.store.NextEvent(ctx, r.ID)
	if err != nil {
		return err
	}
	e.log = h.newEventLog(r.ID, next, nil, func() {})
	return h.end(ctx, r, e)
}

// trace finds out from the audit log what a dead process did and could not save.
func (h *Host) trace(ctx context.Context, r *Run, e *ending) error {
	err := h.audit.Flush(ctx) // it may have been this process's run a moment ago
	var events []audit.Event
	if err == nil {
		events, err = h.audit.Events(ctx, audit.Filter{Run: r.ID})
	}
	if err != nil {
		return fmt.Errorf("reading the run's records: %w", err)
	}
	e.started, e.asked, e.outcomes = map[string]*intent{}, map[string]*intent{}, map[string]outcome{}
	for _, rec := range events {
		switch rec.Type {
		case audit.RunEnd:
			e.recorded = &rec
		case audit.ToolWait:
			e.asked[rec.Call] = recordedIntent(rec)
		case audit.ToolStart:
			delete(e.asked, rec.Call)
			e.started[rec.Call] = recordedIntent(rec)
		case audit.ToolEnd, audit.ToolError, audit.ToolDenied:
			delete(e.asked, rec.Call)
			delete(e.started, rec.Call)
			e.outcomes[rec.Call] = recordedOutcome(rec)
		}
	}
	return nil
}

func recordedIntent(e audit.Event) *intent {
	in := &intent{Run: e.Run, Thread: e.Thread, Agent: e.Agent, Call: e.Call, Tool: e.Tool}
	in.Principal.User, in.Principal.Role, in.Principal.OnBehalfOf = e.User, policy.Role(e.Role), e.OnBehalfOf
	in.Principal.Address, in.Principal.TokenID, in.Principal.RequestID = e.Address, e.TokenID, e.RequestID
	return in
}

func recordedOutcome(e audit.Event) outcome {
	o := outcome{status: CallStatus(e.Status), text: e.Output, labels: []string{"tool:" + e.Tool}, past: true}
	if e.Type == audit.ToolDenied {
		o.text = string(o.status) + ": " + strings.Join(e.Reasons, "; ")
	}
	return o
}
