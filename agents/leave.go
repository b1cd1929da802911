package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/policy"
)

// leave sees to what a call needs beyond the policy's word. Without a verdict the call may start, by
// the analysis and the decision that are then in a and d. It marks the call as asked for once the
// record says so.
func (g *gate) leave(ctx context.Context, s scope, c *Call, a **analysis, d *policy.Decision, counts *counted) (Leave, verdict) {
	if g.holds == nil {
		d.Effect = policy.Deny
		d.Reasons = append(slices.Clone(d.Reasons), "approval: required, and nobody can be asked for one here")
		d.Message = strings.TrimSpace(d.Message + " It needs a person's approval, and nobody can be asked for one here.")
		return Leave{}, g.refuse(ctx, s, *c, *a, *d, Leave{}, nil)
	}
	if !c.Asked {
		e := g.event(audit.ToolWait, s, *c, *a, *d)
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
		Run: s.run, Thread: s.thread, Agent: s.agent, Call: c.ID, Tool: c.Name, Principal: s.principal, Auto: s.auto,
		Digest: (*a).digest, Arguments: json.RawMessage(g.secrets.RedactJSON([]byte((*a).raw))), Where: (*a).where, Decision: *d,
	})
	switch {
	case err != nil && ctx.Err() != nil:
		return Leave{}, tooLate(*c)
	case err != nil:
		g.log.Error("asking for leave for a call failed, it is not made", zap.String("call", c.ID), zap.Error(err))
		l = Leave{State: LeaveRefused, Reason: "leave could not be asked for"}
	case l.State == LeavePending:
		return l, waiting{leave: l, where: (*a).where}
	case l.State == LeaveGranted && l.Patch != nil:
		if why := g.change(ctx, s, c, a, d, counts, l); why != "" {
			l.State, l.Reason = LeaveRefused, l.Reason+"; "+why
		}
	}
	d.Reasons = append(slices.Clone(d.Reasons), "leave: "+l.Reason)
	if l.State == LeaveGranted {
		return l, nil
	}
	d.Effect, d.Message = policy.Deny, strings.TrimSpace(d.Message+" "+l.Reason)
	return l, g.refuse(ctx, s, *c, *a, *d, l, nil)
}

// change makes a call the one that a person has approved instead of it, and decides on that one. It
// returns why that one may not be made either, if so.
func (g *gate) change(ctx context.Context, s scope, c *Call, a **analysis, d *policy.Decision, counts *counted, l Leave) (why string) {
	asked := (*a).raw
	args, err := MergePatch(asked, string(l.Patch))
	if err != nil {
		return "the changed arguments cannot be used: " + oneLine(err.Error())
	}
	c.Arguments = args
	now := analyse(s, *c)
	g.giveBack(ctx, *counts) // what was counted is another call
	var decision policy.Decision
	decision, *counts = g.decide(ctx, s.policy, now)
	now.changed = fmt.Sprintf("[A person (%s) changed the arguments of this call before approving it. You asked for %s. Changed to %s.]",
		strings.Join(l.By, ", "), g.secrets.RedactJSON([]byte(asked)), g.secrets.RedactJSON([]byte(args)))
	*a, *d = now, decision
	switch {
	case now.invalid != "":
		return "the changed arguments cannot be used: " + now.invalid
	case now.digest != l.Digest:
		return "the changed call is not the one that was approved"
	case decision.Effect == policy.Deny:
		return "the policy denies the changed call"
	case decision.Effect == policy.Approve && !Enough(decision, s.principal, l.By):
		return "the changed call needs more approvals"
	}
	return ""
}
