package agents

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// agentLimit says that an agent has used up what its own limits allow it for one task.
type agentLimit struct {
	code   string     // of the run's failure, when the agent is the top-level one
	status CallStatus // of the call that handed the task to it
	text   string
}

func (l *agentLimit) Error() string { return l.text }

// worked is how long the run was at work until now.
func (d *driver) worked() time.Duration { return d.run.Worked + time.Since(d.began) }

// overOwn is the limit of its own for which a frame's agent may not take another turn; nil: none. The time
// of a task counts for all that it was handed down to.
func (d *driver) overOwn(frame int) *agentLimit {
	f := &d.run.Frames[frame]
	agent, ok := d.set.agents[f.Agent]
	l := agent.Limits
	switch {
	case !ok:
		return &agentLimit{"unknown_assistant", CallError, fmt.Sprintf("the agent %s is not there any more", f.Agent)}
	case d.over[frame] != nil:
		return d.over[frame]
	case l.Steps > 0 && f.Steps >= l.Steps:
		return &agentLimit{"step_limit", CallError, fmt.Sprintf("the agent %s took %d model turns without an answer (limits.steps in its AGENT.md)", f.Agent, f.Steps)}
	case l.Tokens > 0 && f.Tokens >= l.Tokens:
		return &agentLimit{"token_limit", CallError, fmt.Sprintf("the agent %s used %d tokens of %d for its task (limits.tokens in its AGENT.md)", f.Agent, f.Tokens, l.Tokens)}
	}
	if left, late := d.left(frame); late != nil && left <= 0 {
		return late
	}
	return nil
}

// left is the time that a frame, and those that it works for, have left, and the limit that it ends with;
// nil when none of them has one.
func (d *driver) left(frame int) (least time.Duration, late *agentLimit) {
	for _, i := range d.run.above(frame) {
		f := &d.run.Frames[i]
		most := d.set.agents[f.Agent].Limits.Time
		if most == 0 {
			continue
		}
		if left := most - (d.worked() - f.Began); late == nil || left < least {
			least, late = left, &agentLimit{"run_timeout", CallTimeout, fmt.Sprintf("the agent %s did not end its task in %s (limits.time in its AGENT.md)", f.Agent, most)}
		}
	}
	return least, late
}

// within ends the context with the time that a frame has left.
func (d *driver) within(ctx context.Context, frame int) (context.Context, context.CancelFunc) {
	if left, late := d.left(frame); late != nil {
		return context.WithTimeoutCause(ctx, left, late)
	}
	return ctx, func() {}
}

// tooSlow reports whether an error is that an agent's time is over. The run may go on: whoever handed the
// task to the agent learns of it.
func tooSlow(err error) bool {
	_, ok := errors.AsType[*agentLimit](err)
	return ok
}

// giveUp ends a frame whose agent has reached a limit: the run, for the top-level agent; otherwise the call
// that opened the frame fails, with the sources that the agent had seen.
func (d *driver) giveUp(ctx context.Context, frame int, l *agentLimit) (work func() func()) {
	f := &d.run.Frames[frame]
	if f.Opener == nil {
		d.fail(&Failure{l.code, l.text})
		return nil
	}
	f.Closed = true
	opener, record, seen := *f.Opener, d.run.call(*f.Opener).Record, slices.Clone(f.Labels)
	return func() func() { return d.giveBack(ctx, opener, record, "", seen, l) }
}
