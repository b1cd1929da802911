package agents

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/eventlog"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/lease"
	"github.com/svc-gateway/svc/scanner/redact"
)

const (
	finishRetry    = 100 * time.Millisecond
	finishRetryMax = 5 * time.Second

	codeCancelled = "cancelled"
	codeRestart   = "interrupted_by_restart"
	codeLeaseLost = "lease_lost"
)

// ending is what the end of a run needs beside the run, whoever brings it about: the driver, or
// somebody who found the run without one.
type ending struct {
	log   *eventLog
	cause error // of the end of calls that have none

	// What the audit log knows and the run may not, by call.
	started  map[string]*intent // calls that were started and have no outcome
	asked    map[string]*intent // calls that were asked for and not started
	outcomes map[string]outcome
	recorded *audit.Event // the run's end, if it is recorded already
}

// end is the one way in which runs end: every call gets an outcome, the audit log is flushed, and
// only then do the run's final state and its last events become visible. The end is saved again
// and again until ctx ends, since until then the thread is busy; what is not saved by then is
// closed by [Host.Recover].
func (h *Host) end(ctx context.Context, r *Run, e ending) error {
	lasting := context.WithoutCancel(ctx)
	h.settle(lasting, r, e)
	r.Status, r.Updated = r.Failure.status(), time.Now().UTC()
	if err := h.recordEnd(lasting, r, e.recorded); err != nil {
		h.log.Error("recording the end of a run failed", zap.String("run", r.ID), zap.Error(err))
		r.Failure = noAudit
		r.Status = r.Failure.status()
	}
	rest := e.log.End(lastEvents(r)...)
	for wait := finishRetry; ; wait = min(2*wait, finishRetryMax) {
		err := h.store.FinishRun(lasting, r, r.Edit.leaves(r.Frames[0].Messages[min(r.Input, len(r.Frames[0].Messages)):]), rest)
		switch {
		case err == nil:
			if !r.Queued {
				h.hooks.SessionEnd(r.Assistant)
			}
			e.log.Reveal(rest)
			if r.More {
				h.lookForNext()
			}
			h.callBack(lasting, r)
			return nil
		case errors.Is(err, ErrConflict): // somebody else has ended it, and their readers know
			e.log.Leave()
			return err
		}
		h.log.Error("saving the end of a run failed", zap.String("run", r.ID), zap.Error(err))
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			e.log.Leave()
			return err
		}
	}
}

// recordEnd records a run's end, unless a process did that which died before it could save it: then
// the record is right.
func (h *Host) recordEnd(ctx context.Context, r *Run, recorded *audit.Event) error {
	if recorded != nil {
		r.Status = Status(recorded.Status)
		if r.Status == Success {
			r.Failure = nil
		}
		return nil
	}
	e := runEvent(audit.RunEnd, r)
	e.Duration = r.Updated.Sub(r.Created).Seconds()
	if r.Failure != nil {
		e.Error = r.Failure.Error()
	}
	if err := h.audit.Queue(ctx, e); err != nil {
		return err
	}
	return h.audit.Flush(ctx)
}

// settle gives calls that will not go on an outcome, so that neither the audit log nor the thread
// holds a call without one.
func (h *Host) settle(ctx context.Context, r *Run, e ending) {
	defer func() { // those that the run does not have
		for _, in := range e.asked {
			h.tellHooks(in.Tool, h.lastWord(ctx, r, in, errNotBegun))
		}
		for _, in := range e.started {
			h.tellHooks(in.Tool, h.lastWord(ctx, r, in, e.cause))
		}
	}()
	for i := len(r.Frames) - 1; i >= 0; i-- {
		for c := range r.Frames[i].Calls {
			ref := CallRef{i, c}
			if call := r.call(ref); !call.Status.Final() {
				h.done(r, ref, h.settleCall(ctx, r, r.Frames[i].Agent, call, e))
			}
			if r.Frames[i].Calls == nil { // that was the last one without an outcome
				break
			}
		}
	}
}

// done gives a call of a run its result, which is the end of the call: nothing else does, and a call has
// one end.
func (h *Host) done(r *Run, ref CallRef, o outcome) {
	h.tellHooks(r.call(ref).Name, o)
	r.done(ref, o)
}

func (h *Host) tellHooks(tool string, o outcome) {
	if !o.past {
		h.hooks.ToolCall(tool, string(o.status), o.took)
	}
}

// settleCall is the outcome of a call that will not go on. If the audit log knows of the call, it
// learns the outcome too.
func (h *Host) settleCall(ctx context.Context, r *Run, agent string, c *Call, e ending) outcome {
	started, asked := e.started[c.ID], e.asked[c.ID]
	delete(e.started, c.ID)
	delete(e.asked, c.ID)
	if c.Record != nil {
		started = c.Record
	}
	if c.Asked && asked == nil {
		asked = &intent{Run: r.ID, Thread: r.Thread, Agent: agent, Call: c.ID, Tool: c.Name, Principal: r.Principal}
	}
	if o, ok := e.outcomes[c.ID]; ok {
		return o
	}
	switch {
	case started != nil:
		return h.lastWord(ctx, r, started, e.cause)
	case asked != nil:
		return h.lastWord(ctx, r, asked, errNotBegun)
	}
	return notMade(*c)
}

// lastWord records the outcome of a call that ends with its run.
func (h *Host) lastWord(ctx context.Context, r *Run, in *intent, cause error) outcome {
	o := outcome{status: callStatus(cause), labels: []string{"tool:" + in.Tool}, took: in.took()}
	o.text = tellModel(in.Tool, o.status, "", cause)
	if err := h.audit.Queue(ctx, in.outcomeEvent(o, cause)); err != nil {
		h.log.Error("recording the outcome of a call failed", zap.String("call", in.Call), zap.Error(err))
		r.Failure = noAudit
	}
	return o
}

// endedBy is what the end of a run's context, or a model's error, means for the run.
func endedBy(err error) *Failure {
	switch {
	case errors.Is(err, errCancelled):
		return &Failure{codeCancelled, "the run was cancelled"}
	case errors.Is(err, errRestart):
		return &Failure{codeRestart, "the service stopped before the run was done"}
	case errors.Is(err, lease.ErrLost):
		return &Failure{codeLeaseLost, "the run could not be kept as this process's own"}
	}
	return modelFailure(err)
}

// cause is the reason that the calls of a failed run end for.
func (f *Failure) cause() error {
	switch {
	case f == nil:
		return nil
	case f.status() == Timeout:
		return errors.Join(errRunTimeout, f)
	case f.status() == Cancelled, f.Code == codeRestart, f.Code == codeLeaseLost:
		return errors.Join(errCancelled, f)
	}
	return f
}

func (f *Failure) status() Status {
	switch {
	case f == nil:
		return Success
	case f.Code == codeCancelled:
		return Cancelled
	case f.Code == "run_timeout":
		return Timeout
	}
	return Error
}

// lastEvents are how a run's log ends.
func lastEvents(r *Run) []eventlog.Event {
	done := eventlog.Event{Type: eventlog.Done, Status: string(r.Status)}
	if r.Failure == nil {
		return []eventlog.Event{done}
	}
	return []eventlog.Event{{Type: eventlog.Error, Code: r.Failure.Code, Content: redact.Text(r.Failure.Message)}, done}
}
