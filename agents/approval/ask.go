package approval

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/policy"
)

// maxPending is how many calls of a user's runs may wait for people: more would bury those that matter.
const maxPending = 256

var errTooMany = errors.New("too many calls wait for approval")

// Ask implements [agents.Holds]: leave for a call is a person's approval of this very call.
func (d *Desk) Ask(ctx context.Context, c agents.HeldCall) (agents.Leave, error) {
	for {
		a, err := d.Store.Approval(ctx, c.Call)
		if errors.Is(err, ErrNotFound) {
			a, err = d.request(ctx, c)
		}
		if errors.Is(err, errTooMany) {
			return d.deny(ctx, &a, c, CodeTooMany, fmt.Sprintf("%d other calls of %s wait for approval, which are as many as may", maxPending, owner(&a)))
		}
		if err != nil {
			return agents.Leave{}, err
		}
		leave, err := d.answer(ctx, &a, c)
		if !errors.Is(err, ErrConflict) {
			return leave, err
		}
	}
}

// request keeps a new approval for a call.
func (d *Desk) request(ctx context.Context, c agents.HeldCall) (Approval, error) {
	now, cfg := d.Now().UTC(), d.config()
	a := Approval{
		ID: c.Call, Run: c.Run, Thread: c.Thread, Agent: c.Agent, Tool: c.Tool,
		Requester: c.Principal.User, OnBehalfOf: c.Principal.OnBehalfOf, Digest: c.Digest, Arguments: c.Arguments, Where: c.Where,
		Rule: c.Decision.Rule, Message: c.Decision.Message, Severity: string(c.Decision.Severity), Reasons: c.Decision.Reasons,
		PolicyHash: c.Decision.PolicyHash, State: Pending, Created: now, Expires: now.Add(cfg.TTL),
	}
	a.require(c.Decision)
	if why := auto(cfg, c); why != "" {
		a.Auto = why
		a.settled(Approved, now)
		d.Log.Warn("a dangerous call is made without asking anybody", zap.String("why", why), zap.String("run", c.Run), zap.String("call", c.Call),
			zap.String("tool", c.Tool), zap.String("rule", a.Rule), zap.String("user", c.Principal.User))
		if err := d.record(ctx, audit.ApprovalDecision, c.Principal, &a, "approved", "auto_approve: "+why); err != nil {
			return a, err
		}
	} else if wait, err := d.Store.Approvals(ctx, Filter{Owner: owner(&a), State: []State{Pending}, Limit: maxPending}); err != nil {
		return a, err
	} else if len(wait) == maxPending {
		return a, errTooMany
	}
	stored, err := d.Store.CreateApproval(context.WithoutCancel(ctx), a)
	if err != nil {
		return a, fmt.Errorf("keeping the approval: %w", err)
	}
	if stored.Auto != "" {
		d.tell(ctx, &stored, Notifier.Decided)
	} else {
		d.tell(ctx, &stored, Notifier.Requested)
	}
	return stored, nil
}

// auto is why a call needs no person, if so: an admin asked for that, in a thread that nobody else has
// written in, and only rules of the program want one.
func auto(cfg Config, c agents.HeldCall) string {
	switch d := c.Decision; {
	case c.Principal.Role != policy.Admin, c.Principal.OnBehalfOf != "", c.Foreign, !d.Builtin, d.Approvers > 1, d.OtherPerson:
		return ""
	case c.Auto:
		return "the run asked for it"
	case cfg.Auto:
		return "SVC_AUTO_APPROVE"
	}
	return ""
}

// answer says how it stands with an approval, and uses it up where the gate is to act on it. The error
// is ErrConflict when somebody has changed it meanwhile.
func (d *Desk) answer(ctx context.Context, a *Approval, c agents.HeldCall) (agents.Leave, error) {
	ctx = context.WithoutCancel(ctx)
	if a.Run != c.Run || a.Agent != c.Agent || a.Tool != c.Tool || a.Digest != c.Digest {
		return d.deny(ctx, a, c, CodeChanged, "the approval is for another call")
	}
	switch a.State {
	case Pending, Approved, Edited:
		if !d.Now().Before(a.Expires) {
			if err := d.expire(ctx, a); err != nil {
				return agents.Leave{}, err
			}
			break
		}
		changed, err := d.standing(ctx, a)
		if err != nil {
			return agents.Leave{}, err
		}
		if a.tighten(c) || changed {
			if err := d.Store.SaveApproval(ctx, a); err != nil {
				return agents.Leave{}, err
			}
		}
		if a.State == Pending {
			return d.pending(a), nil
		}
	case Consumed:
		return d.deny(ctx, a, c, CodeDecided, "the approval was used before")
	case Cancelled:
		return d.deny(ctx, a, c, CodeRunOver, "the run is over")
	}
	a.State = Consumed
	if err := d.Store.SaveApproval(ctx, a); err != nil {
		return agents.Leave{}, err
	}
	return d.leave(a), nil
}

// tighten holds an approval to what the policy says now and to where the call would run now, and reports
// whether that changed it. One that is not enough any more is pending again. An edited call runs where that is.
func (a *Approval) tighten(c agents.HeldCall) (changed bool) {
	changed = a.require(c.Decision)
	if a.Edit == nil && a.Where != c.Where {
		a.Where, a.Votes, changed = c.Where, nil, true
	}
	enough := a.enough()
	if a.Auto != "" {
		enough = auto(Config{Auto: true}, c) != ""
	}
	if a.State != Pending && !enough {
		a.State, a.Outcome, a.Auto, a.Decided = Pending, "", "", time.Time{}
		return true
	}
	return changed
}

// pending is the answer while people have to say something.
func (d *Desk) pending(a *Approval) agents.Leave {
	return agents.Leave{
		State: agents.LeavePending, Reason: a.Message, ID: a.ID, Expires: a.Expires, Digest: a.digest(), People: a.Approvers, Other: a.OtherPerson,
	}
}

// leave is the answer of an approval that is decided.
func (d *Desk) leave(a *Approval) agents.Leave {
	l := agents.Leave{ID: a.ID, Digest: a.digest(), Where: a.Where, By: a.by()}
	switch a.Outcome {
	case Approved, Edited:
		l.State, l.Reason = agents.LeaveGranted, "approved by "+strings.Join(l.By, " and ")
		if a.Auto != "" {
			l.By, l.Reason = []string{a.Requester}, "approved without asking anybody (auto_approve): "+a.Auto
		}
		if a.Edit != nil {
			l.Patch, l.Reason = a.Edit.Patch, "edited and approved by "+strings.Join(l.By, " and ")
		}
	case Expired:
		l.State, l.Reason = agents.LeaveExpired, "nobody approved it in time"
	default:
		v := a.last()
		l.State, l.By, l.Reason = agents.LeaveRejected, []string{v.User}, "rejected by "+v.User
	}
	if c := a.last().Comment; c != "" {
		l.Reason += ": " + c
	}
	return l
}

// deny refuses leave that was asked for in the name of an approval that does not give it.
func (d *Desk) deny(ctx context.Context, a *Approval, c agents.HeldCall, code, why string) (agents.Leave, error) {
	err := d.record(ctx, audit.ApprovalRefused, c.Principal, a, code, why)
	return agents.Leave{State: agents.LeaveRefused, Reason: why, ID: a.ID}, err
}
