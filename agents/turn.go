package agents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/guardrail"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/tree"
	"github.com/svc-gateway/svc/audit"
)

// request is what the model of a frame's agent is told.
func (d *driver) request(frame int) model.Request {
	f := &d.run.Frames[frame]
	agent := d.set.agents[f.Agent]
	messages := f.Messages
	switch {
	case frame == 0 && d.replaces:
		messages = tree.Merge(d.history, f.Messages)
	case frame == 0 && len(d.history) > 0:
		messages = append(d.history[:len(d.history):len(d.history)], f.Messages...)
	}
	req := model.Request{Agent: f.Agent, Model: agent.Model, System: agent.System, Messages: messages, Tools: agent.specs, User: d.run.Owner(), Thread: d.run.Thread}
	if f.Known != nil {
		req.System += f.Known.Text
	}
	if frame == 0 && len(d.run.Form) > 0 {
		req.System += guardrail.Asked(d.run.Form)
	}
	req.System += f.Note
	return req
}

// think takes one model turn. The first one of a task begins with what its agent is to know.
func (d *driver) think(ctx context.Context, req model.Request, a answering) func() {
	frame := a.frame
	free, err := d.slot(ctx)
	if err == nil {
		defer free()
		err = d.active.held(ctx)
	}
	if err != nil {
		return d.cutShort(frame, err)
	}
	var known *Recalled
	if a.first != nil {
		known = d.recall(ctx, *a.first)
		req.System += known.Text
	}
	fitted, spent, err := d.fit(ctx, frame, req)
	if err != nil {
		return d.unfitted(frame, spent, err)
	}
	req = fitted.Request
	id := newID()
	voice := d.log.speak(req.Agent, frame, id)
	started := time.Now()
	streamed := 0 // bytes of the answer so far
	resp, err := turn(ctx, d.rt.model, req, func(text string) {
		streamed += len(text)
		if !a.hold {
			voice.say(text)
		}
	})
	if n := len(resp.Message.ToolCalls); err == nil && n > maxCalls {
		err = fmt.Errorf("%w: it asked for %d tool calls at once, of %d at most", model.ErrBadResponse, n, maxCalls)
	}
	if err != nil {
		voice.broken()
		unasked := streamed == 0 && errors.Is(err, model.ErrUnasked)
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		d.rt.log.Warn("model turn failed", zap.String("run", d.run.ID), zap.String("agent", req.Agent), zap.Error(err))
		then := d.cutShort(frame, err)
		if !unasked && resp.Usage.TotalTokens == 0 {
			resp.Usage = model.EstimateUsage(req, streamed)
		}
		return d.broken(ctx, frame, req, resp, time.Since(started), func() {
			d.run.spent(frame, spent)
			then()
		})
	}
	tokens := spent + resp.Usage.TotalTokens
	var g guarded
	if len(resp.Message.ToolCalls) == 0 || resp.Message.Content != "" {
		if g = d.guard(ctx, a, req, resp); g.status == answerAgain {
			g.tell(d.log, req.Agent, frame, id)
			err := d.account(ctx, req.Agent, resp, time.Since(started))
			return func() {
				d.run.askedAgain(frame, guardrail.Again(g.findings), tokens)
				d.recorded(g.failure, err)
			}
		}
		resp.Message.Content = g.text
	}
	m := resp.Message
	m.ID, m.Role = id, model.RoleAssistant
	m.ToolCalls = withOwnIDs(m.ToolCalls)
	m.Compaction = fitted.Compaction
	voice.end(m, resp)
	g.tell(d.log, req.Agent, frame, id)
	err = d.account(ctx, req.Agent, resp, time.Since(started))
	return func() {
		if known != nil {
			d.run.Frames[frame].Known = known
			d.run.Frames[frame].mark(known.Labels)
		}
		d.run.proposed(frame, m, tokens)
		if d.recorded(g.failure, err); d.run.Failure == nil && len(m.ToolCalls) > 0 {
			d.save(ctx)
		}
	}
}

// recorded ends the run when a turn could not be recorded.
func (d *driver) recorded(failure *Failure, err error) {
	if err != nil {
		d.rt.log.Error("recording a model turn failed", zap.String("run", d.run.ID), zap.Error(err))
		failure = noAudit
	}
	if failure != nil {
		d.fail(failure)
	}
}

// cutShort is what becomes of a turn that failed: it ends the run. An agent whose time is over is looked at
// again.
func (d *driver) cutShort(frame int, err error) func() {
	if tooSlow(err) {
		return func() { d.run.Frames[frame].Thinking = false }
	}
	return func() { d.fail(endedBy(err)) }
}

// broken accounts for a turn that failed after the model was asked: what it read, thought and said was paid for.
func (d *driver) broken(ctx context.Context, frame int, req model.Request, resp model.Response, took time.Duration, then func()) func() {
	if resp.Usage.TotalTokens == 0 {
		return then
	}
	resp.Model = cmp.Or(resp.Model, d.rt.model.Name())
	err := d.account(ctx, req.Agent, resp, took)
	return func() {
		d.run.spent(frame, resp.Usage.TotalTokens)
		d.recorded(nil, err)
		then()
	}
}

// turn calls the model so that a panic in it ends this run only.
func turn(ctx context.Context, m model.Model, req model.Request, say func(string)) (resp model.Response, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the model client panicked: %v", p)
		}
	}()
	return m.Turn(ctx, req, say)
}

// withOwnIDs gives every call an id that no other call has: models repeat theirs.
func withOwnIDs(calls []model.ToolCall) []model.ToolCall {
	own := make([]model.ToolCall, len(calls))
	for i, c := range calls {
		c.ID = "call_" + strings.ReplaceAll(newID(), "-", "") // servers take 40 characters at most
		own[i] = c
	}
	return own
}

// account records what a turn cost.
func (d *driver) account(ctx context.Context, agent string, resp model.Response, took time.Duration) error {
	return d.rt.audit.RecordRun(context.WithoutCancel(ctx), audit.RunRecord{
		Run: d.run.ID, Thread: d.run.Thread, Agent: agent, Model: resp.Model, User: d.run.Principal.User,
		PromptTokens: resp.Usage.PromptTokens, CompletionTokens: resp.Usage.CompletionTokens,
		TotalTokens: resp.Usage.TotalTokens, Estimated: resp.Usage.Estimated, Duration: took.Seconds(),
	})
}
