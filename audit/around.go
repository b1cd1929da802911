package audit

import (
	"context"
	"errors"
)

// Around records that something begins, with the status started, does it, and queues the record of how it
// ended: the same event with the status success, or error with what went wrong. do may add to that
// one. What cannot be recorded before is not done. The end is recorded also when ctx has ended; an error
// of that is added to the one of do.
func (l *Log) Around(ctx context.Context, e Event, do func(end *Event) error) error {
	e.Status = "started"
	if err := l.Record(ctx, e); err != nil {
		return err
	}
	e.Status = "success"
	err := do(&e)
	if err != nil {
		e.Status, e.Error = "error", err.Error()
	}
	return errors.Join(err, l.Queue(context.WithoutCancel(ctx), e))
}
