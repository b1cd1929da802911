package agents

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/eventlog"
	"github.com/svc-gateway/svc/internal/lease"
)

// suspend saves a run all of whose work is waiting, so that nothing of it need stay in memory. It
// reports false when the run has to go on instead: it was cancelled, or there is news for a call.
func (d *driver) suspend(ctx context.Context) bool {
	worked := d.run.Worked
	d.told = false
	d.run.Policy = d.policy.Engine().Hash()
	d.run.Worked += time.Since(d.began)
	saved := d.insist(ctx, Interrupted, d.park, d.active.news)
	d.log.Hush(false)
	if saved && d.rt.pause(d.run.ID, d.active, d.looked) {
		return true
	}
	d.run.Worked = worked
	d.look()
	if saved { // whoever asked for something meanwhile was told that it will be done
		d.insist(ctx, Running, d.rt.store.ResumeRun, nil)
	}
	d.run.Status = Running
	return false
}

// insist saves the run with a status, again and again until ctx ends or something comes from news,
// and reports whether it is saved.
func (d *driver) insist(ctx context.Context, s Status, write func(context.Context, *Run) error, news <-chan struct{}) bool {
	for wait := finishRetry; ctx.Err() == nil; wait = min(2*wait, finishRetryMax) {
		select {
		case <-news:
			return false
		default:
		}
		d.run.Status, d.run.Updated = s, time.Now().UTC()
		err := d.active.save(context.WithoutCancel(ctx), write, d.run)
		switch {
		case err == nil:
			return true
		case errors.Is(err, ErrConflict):
			d.fail(endedBy(lease.ErrLost))
			return false
		}
		d.rt.log.Error("saving a run that waits failed, trying again", zap.String("run", d.run.ID), zap.Error(err))
		select {
		case <-time.After(wait):
		case <-news:
			return false
		case <-ctx.Done():
		}
	}
	return false
}

// park brings all that another process needs to go on with the run, or to end it, to where that
// process finds it: the outcomes of its calls, its events and last the run.
func (d *driver) park(ctx context.Context, r *Run) error {
	if err := d.rt.audit.Flush(ctx); err != nil {
		return err
	}
	if !d.told { // to readers only when whoever answers at once finds that the run waits
		d.log.Hush(true)
		d.log.Append(eventlog.Event{Type: eventlog.Paused})
		d.told = true
	}
	if err := d.log.Save(); err != nil {
		return err
	}
	return d.rt.store.SuspendRun(ctx, r)
}
