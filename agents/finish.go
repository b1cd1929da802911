package agents

import (
	"context"

	"go.uber.org/zap"
)

// finish ends the run that the driver has brought to its end. A run that may have become another
// process's is left to that one, unless nobody has touched it.
func (d *driver) finish(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	if d.rt.decideEnd(d.active) {
		d.run.Failure = endedBy(errCancelled)
	}
	defer d.rt.deactivate(d.run.ID)
	if err := d.active.held(ctx); err != nil {
		if err := d.active.save(ctx, d.rt.store.SaveRun, d.run); err != nil {
			d.rt.log.Warn("leaving a run to another process", zap.String("run", d.run.ID), zap.Error(err))
			d.log.Leave()
			return
		}
	}
	// The error is logged; what could not be saved is closed by who finds it.
	if err := d.rt.end(d.rt.base, d.run, ending{log: d.log, cause: d.run.Failure.cause()}); err == nil && d.run.Status == Success {
		d.capture(0)
	}
}
