package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/mergepatch"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/policy"
)

// leave sees to what a call needs beyond the policy's word. Without a verdict the call may start, as it
// is judged then. It marks the call as asked for once the record says so.
func (g *gate) leave(ctx context.Context, s scope, c *Call, j *judged) (Leave, verdict) {
	if g.holds == nil {
		return g.noLeave(ctx, s, *c, j, Leave{Reason: "it needs a person's approval, and nobody can be asked for one here"})
	}
	if !c.Asked {
		e := g.event(audit.ToolWait, s, *c, j.analysis, j.decision)
		e.Status = string(CallWaiting)
		if err := g.audit.Record(context.WithoutCancel(ctx), e); err != nil {
			return Leave{}, g.unrecorded(*c, err)
		}
		c.Asked = true
	}
	if err := s.ours(ctx); err != nil { // leave would be used up for nothing
		return Leave{}, tooLate(*c)
	}
	l, err := g.holds.Ask(ctx, HeldCall{
		Run: s.run, Thread: s.thread, Agent: s.agent, Call: c.ID, Tool: c.Name, Principal: s.principal, Foreign: s.foreign, Auto: s.auto,
		Digest: j.analysis.digest, Arguments: json.RawMessage(g.secrets.RedactJSON([]byte(j.analysis.raw))),
		Where: j.analysis.where, Decision: j.decision,
	})
	switch {
	case err != nil && ctx.Err() != nil:
		return Leave{}, tooLate(*c)
	case err != nil:
		g.log.Error("asking for leave for a call failed, it is not made", zap.String("call", c.ID), zap.Error(err))
		l = Leave{State: LeaveRefused, Reason: "leave could not be asked for"}
	case l.State == LeavePending:
		return l, waiting{leave: l, where: j.analysis.where, input: c.Arguments}
	case l.State == LeaveGranted && l.Patch != nil:
		if why := g.change(ctx, s, c, j, l); why != "" {
			l.State, l.Reason = LeaveRefused, l.Reason+"; "+why
		}
	}
	if l.State != LeaveGranted {
		return g.noLeave(ctx, s, *c, j, l)
	}
	j.decision.Reasons = append(slices.Clone(j.decision.Reasons), "leave: "+l.Reason)
	return l, nil
}

// noLeave refuses a call for which there is no leave.
func (g *gate) noLeave(ctx context.Context, s scope, c Call, j *judged, l Leave) (Leave, verdict) {
	d, said := &j.decision, l.Reason
	if strings.TrimRight(said, ".!?") == said {
		said += "."
	}
	if d.Effect == policy.Approve && d.Message != "" {
		said += " Approval was needed:"
	}
	d.Message = strings.TrimSpace(said + " " + d.Message)
	d.Effect, d.Code = policy.Deny, l.code()
	d.Reasons = append(slices.Clone(d.Reasons), "leave: "+l.Reason)
	return l, g.refuse(ctx, s, c, j.analysis, *d, l, nil)
}

// change makes a call the one that a person has approved instead of it, and judges that one. It
// returns why that one may not be made either, if so.
func (g *gate) change(ctx context.Context, s scope, c *Call, j *judged, l Leave) (why string) {
	asked := j.analysis.raw
	args, err := mergepatch.Apply(asked, string(l.Patch))
	if err != nil {
		return "the changed arguments cannot be used: " + oneLine(err.Error())
	}
	c.Arguments = args
	g.counters.GiveBack(ctx, j.counted)
	*j = g.judge(ctx, s, *c)
	j.analysis.changed = fmt.Sprintf("[A person (%s) changed the arguments of this call before approving it. You asked for %s. Changed to %s.]",
		strings.Join(l.By, ", "), g.secrets.RedactJSON([]byte(asked)), g.secrets.RedactJSON([]byte(args)))
	switch {
	case j.analysis.invalid != "":
		return "the changed arguments cannot be used: " + j.analysis.invalid
	case j.analysis.digest != l.Digest:
		return "the changed call is not the one that was approved"
	case j.analysis.where != l.Where:
		return "the changed call would run elsewhere now: " + j.analysis.where
	case j.decision.Effect == policy.Deny:
		return "the policy denies the changed call"
	case j.decision.Effect == policy.Approve && !Enough(j.decision, s.principal, l.By):
		return "the changed call needs more approvals"
	}
	return ""
}
