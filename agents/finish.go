package agents

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/scanner"
)

// endedBy is what the end of a run's context, or a model's error, means for the run.
func endedBy(err error) *Failure {
	switch {
	case errors.Is(err, errCancelled):
		return &Failure{"cancelled", "the run was cancelled"}
	case errors.Is(err, errRestart):
		return &Failure{"interrupted_by_restart", "the service stopped before the run was done"}
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
	if err != nil && r.Failure == nil {
		r.Failure = unrecorded(err).fatal
		r.Status = Error
	}
	rest := d.log.end(lastEvents(r)...)
	if err := d.rt.store.FinishRun(ctx, r, r.Frames[0].Messages[r.Input:], rest); err != nil {
		d.rt.log.Error("saving the end of a run failed", zap.String("run", r.ID), zap.Error(err))
	}
	d.log.reveal(rest)
}

// settle gives calls that will not go on an outcome, so that neither the audit log nor the
// thread holds a call without one.
func (d *driver) settle(ctx context.Context) {
	if d.run.Failure == nil {
		return
	}
	cause := error(d.run.Failure)
	status := CallError
	if s := d.run.Failure.status(); s == Cancelled || d.run.Failure.Code == "interrupted_by_restart" {
		cause, status = errors.Join(errCancelled, cause), CallCancelled
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
				d.run.done(ref, outcome{status: status, text: "the run ended before this call"})
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
	return []Event{{Type: EventError, Code: r.Failure.Code, Content: scanner.Redact(r.Failure.Message)}, done}
}

// newMessages are the messages that a caller adds to a thread, labelled and scanned.
func newMessages(input []model.Message) []model.Message {
	for i := range input {
		m := &input[i]
		if m.ID == "" {
			m.ID = newID()
		}
		m.Labels = []string{"user"}
		m.Findings = scanner.Scan(m.Content)
	}
	return input
}
