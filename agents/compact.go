package agents

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/compact"
	"github.com/svc-gateway/svc/agents/eventlog"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/scanner"
)

// What became of older messages.
const (
	summarised = "summarised"
	leftOut    = "left_out"
)

// errPoisoned refuses a summary that reads like an injection: it would stand in every turn from then on.
var errPoisoned = errors.New("the summary reads like an injection")

// fit makes a request fit the model's window, and tells readers and the audit log what it took. spent are
// the tokens of the summary.
func (d *driver) fit(ctx context.Context, frame int, req model.Request) (f compact.Fitted, spent int64, err error) {
	c := compact.Compactor{Window: d.rt.limits.Context, Summarise: func(ctx context.Context, transcript string) (string, error) {
		started := time.Now()
		resp, err := turn(ctx, d.rt.model, model.Request{
			Agent: req.Agent, System: model.SummarySystem, User: req.User, Messages: []model.Message{{Role: model.RoleUser, Content: transcript}},
		}, nil)
		if err != nil {
			return "", err
		}
		spent = resp.Usage.TotalTokens
		if err := d.account(ctx, req.Agent, resp, time.Since(started)); err != nil {
			return "", err
		}
		for _, found := range d.rt.gate.scan(resp.Message.Content) {
			if found.Confidence == scanner.High {
				return "", fmt.Errorf("%w: %s, rule %s", errPoisoned, found.Category, found.Rule)
			}
		}
		return resp.Message.Content, nil
	}}
	if f, err = c.Fit(ctx, req); err != nil || f.Compaction == nil {
		return f, spent, err
	}
	made, status := f.Compaction, summarised
	text := fmt.Sprintf("%d older messages were summarised for the model.", made.Messages)
	if f.Failed != nil {
		d.rt.log.Warn("summarising older messages failed, they are left out", zap.String("run", d.run.ID), zap.String("agent", req.Agent), zap.Error(f.Failed))
		status, text = leftOut, fmt.Sprintf("%d older messages were left out for the model: they could not be summarised.", made.Messages)
	}
	e := eventBy(d.run.Principal, audit.RunCompacted)
	e.Run, e.Thread, e.Agent = d.run.ID, d.run.Thread, req.Agent
	e.Status, e.Labels, e.Output = status, made.Labels, d.rt.gate.secrets.Redact(made.Text)
	e.Input = jsonText(map[string]any{"frame": frame, "messages": made.Messages, "through": made.Through})
	if f.Failed != nil {
		e.Error = d.rt.gate.secrets.Redact(f.Failed.Error())
	}
	if err := d.rt.audit.Queue(context.WithoutCancel(ctx), e); err != nil {
		d.rt.log.Error("recording a summary failed", zap.String("run", d.run.ID), zap.Error(err))
		return f, spent, noAudit
	}
	d.log.Append(eventlog.Event{Type: eventlog.Compact, Agent: req.Agent, Frame: frame, Status: status, Content: text})
	return f, spent, nil
}

// unfitted is what becomes of a turn whose request does not fit: its agent is at a limit.
func (d *driver) unfitted(frame int, spent int64, err error) func() {
	then := d.cutShort(frame, err)
	return func() {
		d.run.spent(frame, spent)
		if f, ok := errors.AsType[*Failure](err); ok {
			d.fail(f)
			return
		}
		if !errors.Is(err, compact.ErrTooLarge) {
			then()
			return
		}
		d.run.Frames[frame].Thinking = false
		if d.over == nil {
			d.over = map[int]*agentLimit{}
		}
		d.over[frame] = &agentLimit{"context_limit", CallError, fmt.Sprintf(
			"the conversation of the agent %s does not fit the model's window (setting model.context_tokens, %d)", d.run.Frames[frame].Agent, d.rt.limits.Context)}
	}
}
