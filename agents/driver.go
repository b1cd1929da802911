package agents

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/eventlog"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/internal/lease"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/provenance"
)

// driver carries out what a run asks for. It alone touches the run; the goroutines that it
// starts send back what is to be changed.
type driver struct {
	rt       *Runtime
	policy   *policy.Held
	set      *toolset
	run      *Run
	active   *activeRun
	history  []model.Message // of the thread, before this run
	replaces bool            // the run's messages have ids that the history has
	said     *provenance.Words
	log      *eventLog
	began    time.Time
	applied  chan func()
	inflight int
	over     map[int]*agentLimit // frames whose conversation does not fit any more
	told     bool                // readers know that the run waits
	looked   int                 // the news that the calls which wait have been looked at for
	slots    chan struct{}       // model turns and tool calls that may run side by side
}

// maxCalls is how many calls a model may ask for in one turn.
const maxCalls = 64

// drive goes on with the run until it is in a final state or waits.
func (d *driver) drive(ctx context.Context) {
	for {
		if err := context.Cause(ctx); err != nil {
			d.fail(endedBy(err))
		}
		for _, e := range d.run.next() {
			if _, ok := e.(finish); ok {
				d.active.cancel(errors.New("the run is over"))
				d.drain()
				d.finish(ctx)
				return
			}
			d.start(ctx, e)
		}
		switch {
		case d.inflight > 0:
			d.apply()
		case !d.run.waits():
			d.fail(&Failure{"internal", "the run has nothing left to do and no answer"})
		case d.suspend(ctx):
			return
		}
	}
}

func (d *driver) drain() {
	for d.inflight > 0 {
		d.apply()
	}
}

// apply waits for what comes next: the end of an effect, or news for the calls that wait.
func (d *driver) apply() {
	select {
	case change := <-d.applied:
		d.inflight--
		change()
	case <-d.active.news:
		d.look()
	}
}

// look has the calls that wait come before the gate again.
func (d *driver) look() {
	d.looked = d.rt.wakesOf(d.active)
	d.run.woken()
}

// start begins an effect and marks it in the run as begun.
func (d *driver) start(ctx context.Context, e effect) {
	var work func() func()
	switch e := e.(type) {
	case think:
		if f := d.overLimit(e.frame); f != nil {
			d.fail(f)
			return
		}
		if l := d.overOwn(e.frame); l != nil {
			if work = d.giveUp(ctx, e.frame, l); work == nil {
				return
			}
			break
		}
		f := &d.run.Frames[e.frame]
		f.Thinking = true
		f.Steps++
		d.run.Steps++
		req, task := d.request(e.frame), d.answering(e.frame)
		task.messages = req.Messages
		bounded, release := d.within(ctx, e.frame)
		work = func() func() { defer release(); return d.think(bounded, req, task) }
	case act:
		if f := d.overSteps(e.Frame, -1); f != nil {
			d.fail(f)
			return
		}
		c := *d.run.call(e.CallRef)
		d.run.call(e.CallRef).Status = CallStarted
		agent := d.run.Frames[e.Frame].Agent
		if d.said == nil {
			d.said = said(d.history, d.run)
		}
		trail := provenance.Trail{Said: d.said, Read: read(d.history, d.run)}
		to := d.handover(e.Frame)
		bounded, release := d.within(ctx, e.Frame)
		work = func() func() { defer release(); return d.act(ctx, bounded, e.CallRef, agent, c, trail, to) }
	case giveBack:
		f := &d.run.Frames[e.frame]
		f.Closed = true
		d.capture(e.frame)
		opener, record := *f.Opener, d.run.call(*f.Opener).Record
		answer, seen := f.Messages[len(f.Messages)-1].Content, slices.Clone(f.Labels)
		work = func() func() { return d.giveBack(ctx, opener, record, answer, seen, nil) }
	}
	d.inflight++
	go func() { d.applied <- d.contained(work) }()
}

// contained makes a panic of ours the end of this run, and of nothing else.
func (d *driver) contained(work func() func()) (change func()) {
	defer func() {
		if p := recover(); p != nil {
			d.rt.log.Error("a run's step panicked", zap.String("run", d.run.ID), zap.Any("panic", p), zap.Stack("stack"))
			change = func() { d.fail(&Failure{"internal", "the run cannot go on"}) }
		}
	}()
	return work()
}

// fail ends the run. The first reason counts.
func (d *driver) fail(f *Failure) {
	if d.run.Failure == nil {
		d.run.Failure = f
	}
}

// slot waits until one more model turn or tool call may run beside the others.
func (d *driver) slot(ctx context.Context) (free func(), err error) {
	select {
	case d.slots <- struct{}{}:
		return func() { <-d.slots }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// overSteps is the reason for which the run may not take another step of its first frame: the number
// that the request allows is reached. A turn of the model and a round of calls are a step each.
func (d *driver) overSteps(frame, less int) *Failure {
	if frame != 0 || d.run.MaxSteps == 0 {
		return nil
	}
	steps := less
	for _, m := range d.run.Frames[0].Messages[d.run.Input:] {
		if m.Role == model.RoleAssistant {
			steps += 2
		}
	}
	if steps < d.run.MaxSteps {
		return nil
	}
	return &Failure{"recursion_limit", fmt.Sprintf("the run took %d steps without an end, as many as its request allows (recursion_limit)", d.run.MaxSteps)}
}

// overLimit is the reason for which the run may not take another model turn.
func (d *driver) overLimit(frame int) *Failure {
	if f := d.overSteps(frame, 0); f != nil {
		return f
	}
	switch l := d.rt.limits; {
	case d.run.Steps >= l.Steps:
		return &Failure{"step_limit", fmt.Sprintf("the run took %d model turns without an end (setting runtime.max_steps)", l.Steps)}
	case l.Tokens > 0 && d.run.Tokens >= l.Tokens:
		return &Failure{"token_limit", fmt.Sprintf("the run used %d tokens of %d (setting runtime.max_tokens)", d.run.Tokens, l.Tokens)}
	}
	return nil
}

// act passes a call through the gate. The call has the time of bounded.
func (d *driver) act(ctx, bounded context.Context, ref CallRef, agent string, c Call, trail provenance.Trail, to handover) func() {
	s := scope{
		run: d.run.ID, thread: d.run.Thread, agent: agent, principal: d.run.Principal,
		policy: d.policy.Engine(), tools: d.set.agents[agent].tools, ours: d.active.held, foreign: d.run.Foreign, auto: d.run.Auto,
		trail: trail, to: to,
	}
	wakes := d.rt.wakesOf(d.active)
	var v verdict
	if free, err := d.slot(ctx); err != nil {
		v = tooLate(c)
	} else {
		defer free()
		v = d.rt.gate.admit(ctx, s, c)
	}
	switch v := v.(type) {
	case waiting:
		if !c.Asked {
			d.log.waits(agent, ref.Frame, c, v)
		}
		return func() {
			d.run.held(ref)
			if v.fatal != nil {
				d.fail(v.fatal)
			} else if d.rt.wakesOf(d.active) != wakes { // the answer may be older than the news
				d.look()
			}
		}
	case refused:
		if v.status == CallCancelled {
			return func() { d.rt.done(d.run, ref, v.outcome) }
		}
		d.log.decided(agent, ref.Frame, c, v.leave)
		d.log.toolUse(agent, ref.Frame, c, v.status, v.code, strings.TrimPrefix(v.text, string(v.status)+": "))
		return d.ended(ref, c, v.outcome)
	case admitted:
		d.log.decided(agent, ref.Frame, c, v.leave)
		c.Arguments = v.analysis.raw // a person may have changed them
		d.log.toolUse(agent, ref.Frame, c, CallStarted, "", "")
		if v.analysis.tool.delegates() {
			return d.delegate(ref, v)
		}
		o := d.rt.gate.call(bounded, s, v.intent, v.analysis)
		if o.todos != nil {
			d.log.todos(agent, ref.Frame, c.ID, *o.todos)
		}
		return d.ended(ref, c, o)
	}
	panic(fmt.Sprintf("agents: verdict %T", v)) // there are no others
}

// ended tells the readers of a call's result and returns what it changes in the run.
func (d *driver) ended(ref CallRef, c Call, o outcome) func() {
	d.log.Append(eventlog.Event{
		Type: eventlog.Result, Frame: ref.Frame, Call: c.ID, Name: d.log.secrets.Redact(c.Name), Status: string(o.status), Content: o.text, Took: o.took,
	})
	return func() {
		d.rt.done(d.run, ref, o)
		if o.fatal != nil {
			d.fail(o.fatal)
		}
	}
}

// save checkpoints the run. A run that somebody else has changed is no longer ours.
func (d *driver) save(ctx context.Context) {
	d.run.Updated = time.Now().UTC()
	err := d.active.save(context.WithoutCancel(ctx), d.rt.store.SaveRun, d.run)
	switch {
	case errors.Is(err, ErrConflict):
		d.active.cancel(lease.ErrLost)
	case err != nil:
		d.rt.log.Error("saving a run failed", zap.String("run", d.run.ID), zap.Error(err))
		d.fail(&Failure{"state_unavailable", "the run's state cannot be saved"})
	}
}
