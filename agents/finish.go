package agents

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/scanner/inject"
	"github.com/svc-gateway/svc/scanner/redact"
)

const (
	finishRetry    = 100 * time.Millisecond
	finishRetryMax = 5 * time.Second

	codeRestart = "interrupted_by_restart"
)

// endedBy is what the end of a run's context, or a model's error, means for the run.
func endedBy(err error) *Failure {
	switch {
	case errors.Is(err, errCancelled):
		return &Failure{"cancelled", "the run was cancelled"}
	case errors.Is(err, errRestart):
		return &Failure{codeRestart, "the service stopped before the run was done"}
	}
	return modelFailure(err)
}

func (f *Failure) status() Status {
	switch {
	case f == nil:
		return Success
	case f.Code == "cancelled":
		return Cancelled
	case f.Code == "run_timeout":
		return Timeout
	}
	return Error
}

// finish closes the run: every call gets an outcome, the audit log is flushed, and only then
// do the run's final state and its last events become visible.
func (d *driver) finish(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	d.settle(ctx)
	r := d.run
	r.Status, r.Updated = r.Failure.status(), time.Now().UTC()
	end := runEvent(audit.RunEnd, r)
	end.Status, end.Duration = string(r.Status), r.Updated.Sub(r.Created).Seconds()
	if r.Failure != nil {
		end.Error = r.Failure.Error()
	}
	err := d.rt.audit.Queue(ctx, end)
	if err == nil {
		err = d.rt.audit.Flush(ctx)
	}
	if err != nil {
		d.rt.log.Error("recording the end of a run failed", zap.String("run", r.ID), zap.Error(err))
		d.fail(noAudit)
		r.Status = r.Failure.status()
	}
	rest := d.log.end(lastEvents(r)...)
	d.saveEnd(ctx, rest)
	d.log.reveal(rest)
}

// saveEnd saves the run's end, again and again while the store cannot be written: until then
// the run is active and its thread busy. What a stopping process leaves is closed by the next.
func (d *driver) saveEnd(ctx context.Context, rest []Event) {
	for wait := finishRetry; ; wait = min(2*wait, finishRetryMax) {
		err := d.rt.store.FinishRun(ctx, d.run, d.run.Frames[0].Messages[d.run.Input:], rest)
		if err == nil {
			return
		}
		d.rt.log.Error("saving the end of a run failed", zap.String("run", d.run.ID), zap.Error(err))
		if errors.Is(err, ErrConflict) {
			return
		}
		select {
		case <-time.After(wait):
		case <-d.rt.base.Done():
			return
		}
	}
}

// settle gives calls that will not go on an outcome, so that neither the audit log nor the
// thread holds a call without one.
func (d *driver) settle(ctx context.Context) {
	if d.run.Failure == nil {
		return
	}
	cause := error(d.run.Failure)
	switch {
	case d.run.Failure.status() == Timeout:
		cause = errors.Join(errRunTimeout, cause)
	case d.run.Failure.status() == Cancelled, d.run.Failure.Code == codeRestart:
		cause = errors.Join(errCancelled, cause)
	}
	for i := len(d.run.Frames) - 1; i >= 0; i-- {
		for c := range d.run.Frames[i].Calls {
			ref := CallRef{i, c}
			call := d.run.call(ref)
			switch {
			case call.Status.Final():
			case call.Record != nil:
				d.run.done(ref, d.rt.gate.conclude(ctx, call.Record, Result{}, cause))
			default:
				d.run.done(ref, *notMade(*call))
			}
			if d.run.Frames[i].Calls == nil {
				break
			}
		}
	}
}

// lastEvents are how a run's log ends.
func lastEvents(r *Run) []Event {
	done := Event{Type: EventDone, Status: string(r.Status)}
	if r.Failure == nil {
		return []Event{done}
	}
	return []Event{{Type: EventError, Code: r.Failure.Code, Content: redact.Text(r.Failure.Message)}, done}
}

// newMessages are the messages that a caller adds to a thread, labelled and scanned.
func newMessages(input []model.Message) []model.Message {
	for i := range input {
		m := &input[i]
		if m.ID == "" {
			m.ID = newID()
		}
		m.Labels = []string{"user"}
		m.Findings = inject.Scan(m.Content)
	}
	return input
}
