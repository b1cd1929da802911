package agents

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"
)

// suspend saves a run all of whose work is waiting, so that nothing of it need stay in memory. It
// reports false when the run has to go on instead: it was cancelled, or there is news for a call.
func (d *driver) suspend(ctx context.Context) bool {
	worked := d.run.Worked
	for wait := finishRetry; ; wait = min(2*wait, finishRetryMax) {
		select {
		case <-d.active.news:
			d.look()
			return false
		default:
		}
		if ctx.Err() != nil {
			return false
		}
		d.run.Status, d.run.Updated, d.run.Worked = Interrupted, time.Now().UTC(), worked+time.Since(d.began)
		err := d.park(context.WithoutCancel(ctx))
		if err == nil {
			return true
		}
		d.run.Status, d.run.Worked = Running, worked
		if errors.Is(err, ErrConflict) {
			d.fail(endedBy(errLeaseLost))
			return false
		}
		d.rt.log.Error("saving a run that waits failed, trying again", zap.String("run", d.run.ID), zap.Error(err))
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
}

// park brings all that another process needs to go on with the run, or to end it, to where that
// process finds it: the outcomes of its calls, its events and last the run.
func (d *driver) park(ctx context.Context) error {
	if err := d.rt.audit.Flush(ctx); err != nil {
		return err
	}
	if err := d.log.save(); err != nil {
		return err
	}
	return d.rt.store.SuspendRun(ctx, d.run)
}
