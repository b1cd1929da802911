package approval

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/policy"
)

const (
	sweepEvery = 2 * time.Second
	sweepBatch = 100
)

// sweepAgain sweeps until the desk is closed.
func (d *Desk) sweepAgain() {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		if err := d.Sweep(d.base); err != nil && d.base.Err() == nil {
			d.Log.Warn("looking after approvals failed, trying again", zap.Error(err))
		}
		select {
		case <-d.base.Done():
			return
		case <-tick.C:
		}
	}
}

// Sweep expires what was not decided in time, and wakes runs that were decided on and have not heard of
// it: whoever decided may have died, or could not reach them.
func (d *Desk) Sweep(ctx context.Context) error {
	now := d.Now()
	due, err := d.Store.Approvals(ctx, Filter{State: []State{Pending}, Expired: now, Limit: sweepBatch})
	if err != nil {
		return err
	}
	for _, a := range due {
		if err := d.expire(ctx, &a); err != nil && !errors.Is(err, ErrConflict) {
			return err
		}
	}
	unheard, err := d.Store.Approvals(ctx, Filter{State: []State{Approved, Edited, Rejected, Expired}, Limit: sweepBatch})
	for _, a := range unheard {
		d.wake(a.Run)
	}
	return err
}

// expire ends the time of an approval. Several may try at once, and one has it recorded: that the call is
// not made is on record in any case, when the gate says so.
func (d *Desk) expire(ctx context.Context, a *Approval) error {
	late := *a
	late.settled(Expired, d.Now().UTC())
	who := policy.Principal{User: a.Requester, OnBehalfOf: a.OnBehalfOf}
	if err := d.Store.SaveApproval(context.WithoutCancel(ctx), &late); err != nil {
		return err
	}
	if err := d.record(ctx, audit.ApprovalDecision, who, &late, "expired", "nobody decided, or nobody used it, in time"); err != nil {
		return err
	}
	*a = late
	d.tell(ctx, a, Notifier.Decided)
	d.wake(a.Run)
	return nil
}
