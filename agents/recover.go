package agents

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/compat"
)

// Recover closes the runs that a process left behind when it died. Nothing is repeated: a
// call that had started and has no outcome gets the outcome unknown. Runs whose lease somebody
// holds are left alone; a process calls it once it knows that it alone, or with others on one
// bus, works on the store.
func (h *Host) Recover(ctx context.Context) error {
	runs, err := h.store.Unfinished(ctx)
	if err != nil {
		return fmt.Errorf("listing unfinished runs: %w", err)
	}
	for _, r := range runs {
		if r.Status == Interrupted {
			continue
		}
		if err := h.recoverRun(ctx, r); err != nil {
			return fmt.Errorf("closing run %s of an earlier process: %w", r.ID, err)
		}
	}
	return nil
}

// recoverRun closes a run unless somebody holds its lease, or has closed it meanwhile.
func (h *Host) recoverRun(ctx context.Context, r *Run) error {
	holder := h.node + ".recovery"
	if ours, err := h.bus.Lease(ctx, topic(r.ID), holder, leaseTime); err != nil || !ours {
		return err
	}
	defer func() { _ = h.bus.Release(ctx, topic(r.ID), holder) }() // or it expires
	still, err := h.store.Unfinished(ctx)
	if err != nil || !slices.ContainsFunc(still, func(o *Run) bool { return o.ID == r.ID && o.Version == r.Version }) {
		return err
	}
	err = h.closeAbandoned(ctx, r)
	if errors.Is(err, ErrConflict) {
		return nil
	}
	if err == nil {
		h.log.Warn("closed a run that an earlier process left behind", zap.String("run", r.ID), zap.String("thread", r.Thread))
	}
	return err
}

func (h *Host) closeAbandoned(ctx context.Context, r *Run) error {
	r.Failure = endedBy(errRestart)
	if err := compat.Check(r.Harness); err != nil {
		r.Failure = &Failure{"harness_version", err.Error()}
	}
	if len(r.Frames) == 0 {
		r.Frames = []Frame{{Agent: r.Assistant}}
	}
	ended, err := h.closeCalls(ctx, r)
	if err != nil {
		return err
	}
	for i := len(r.Frames) - 1; i >= 0; i-- {
		for c := range r.Frames[i].Calls {
			if call := r.call(CallRef{i, c}); !call.Status.Final() {
				r.done(CallRef{i, c}, outcome{status: CallUnknown, text: "unknown: the service stopped while this call was under way", labels: []string{"tool:" + call.Name}})
			}
			if r.Frames[i].Calls == nil {
				break
			}
		}
	}
	r.Status, r.Updated = r.Failure.status(), time.Now().UTC()
	if ended != nil { // the process died between the record and the state
		r.Status = Status(ended.Status)
		if r.Status == Success {
			r.Failure = nil
		}
	} else {
		end := runEvent(audit.RunEnd, r)
		end.Status, end.Error = string(r.Status), r.Failure.Error()
		if err := h.audit.Record(ctx, end); err != nil {
			return err
		}
	}
	last, err := h.eventsAfter(ctx, r.ID)
	if err != nil {
		return err
	}
	events := lastEvents(r)
	for i := range events {
		events[i].Seq = last + i
	}
	var added []model.Message
	if r.Input <= len(r.Frames[0].Messages) {
		added = r.Frames[0].Messages[r.Input:]
	}
	return h.store.FinishRun(ctx, r, added, events)
}

// closeCalls records an outcome for every call whose intent the audit log has, and no more. It
// returns the run's end if that was recorded.
func (h *Host) closeCalls(ctx context.Context, r *Run) (ended *audit.Event, err error) {
	events, err := h.audit.Events(ctx, audit.Filter{Run: r.ID})
	if err != nil {
		return nil, err
	}
	open := map[string]audit.Event{}
	for _, e := range events {
		switch e.Type {
		case audit.RunEnd:
			ended = &e
		case audit.ToolStart:
			open[e.Call] = e
		case audit.ToolEnd, audit.ToolError:
			delete(open, e.Call)
		}
	}
	for _, e := range open {
		err := h.audit.Record(ctx, audit.Event{
			Type: audit.ToolError, Run: e.Run, Thread: e.Thread, Agent: e.Agent, Call: e.Call, Tool: e.Tool,
			User: e.User, Role: e.Role, OnBehalfOf: e.OnBehalfOf, Address: e.Address, TokenID: e.TokenID,
			Status: string(CallUnknown), Error: "the service stopped while this call was under way",
		})
		if err != nil {
			return nil, err
		}
	}
	return ended, nil
}

// eventsAfter is the number after a run's last stored event.
func (h *Host) eventsAfter(ctx context.Context, run string) (int, error) {
	next := 0
	for {
		events, err := h.store.Events(ctx, run, next, readBatch)
		if err != nil || len(events) == 0 {
			return next, err
		}
		next = events[len(events)-1].Seq + 1
	}
}
