package approval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/mergepatch"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/policy"
)

// Decide says what a person wants to become of a call that waits, and returns the approval as it is
// then. The error is a [Refusal] when that does not count, [ErrNotFound], or one of the store, the audit
// log or the identity. Whatever does not count changes nothing and is recorded.
func (d *Desk) Decide(ctx context.Context, p policy.Principal, id string, v Verdict) (Approval, error) {
	now, err := d.Identity.Resolve(ctx, p)
	if err != nil {
		return Approval{}, fmt.Errorf("resolving who decides: %w", err)
	}
	if refusal := mayDecide(now); refusal != nil { // whether there is such an approval is not told
		a, err := d.Store.Approval(ctx, id)
		if err != nil {
			a = Approval{ID: id}
		}
		return Approval{}, errors.Join(refusal, d.record(ctx, audit.ApprovalRefused, now, &a, refusal.Code, refusal.Detail))
	}
	for {
		a, err := d.Store.Approval(ctx, id)
		if err != nil {
			return Approval{}, err
		}
		err = d.vote(ctx, now, &a, v)
		if refusal, ok := errors.AsType[*Refusal](err); ok {
			if err := d.record(ctx, audit.ApprovalRefused, now, &a, refusal.Code, refusal.Detail); err != nil {
				return a, err
			}
		}
		if !errors.Is(err, ErrConflict) {
			return a, err
		}
	}
}

// vote adds a verdict to an approval, if it counts.
func (d *Desk) vote(ctx context.Context, p policy.Principal, a *Approval, v Verdict) error {
	if err := d.mayVote(ctx, p, a, v); err != nil {
		return err
	}
	if _, err := d.standing(ctx, a); err != nil {
		return err
	}
	now := d.Now().UTC()
	before := a.digest()
	if v.Decision == EditFirst {
		if err := d.edit(ctx, a, v.Patch); err != nil {
			return err
		}
		if a.OtherPerson && agents.Asked(a.asker(), p.User) {
			return ownRequest()
		}
	}
	vote := Vote{
		User: p.User, Source: p.Source, Address: p.Address, TokenID: p.TokenID, Decision: v.Decision, Comment: d.config().Secrets.Redact(v.Comment), At: now,
		Digest: a.digest(),
	}
	a.Votes = append(a.Votes, vote)
	word := "approved"
	switch {
	case v.Decision == Reject:
		word = "rejected"
		a.settled(Rejected, now)
	case !a.enough():
		word = "agreed"
	case a.Edit != nil:
		a.settled(Edited, now)
	default:
		a.settled(Approved, now)
	}
	if a.State == Approved || a.State == Edited {
		a.Expires = now.Add(d.config().TTL) // from here on it is the time in which it may be used
	}
	detail := "on the call " + before
	if v.Decision == EditFirst {
		word = "edited"
		detail = "changed the call " + before + " to " + a.digest()
	}
	if vote.Comment != "" {
		detail += ": " + vote.Comment
	}
	if err := d.record(ctx, audit.ApprovalDecision, p, a, word, detail); err != nil {
		return err
	}
	if err := d.Store.SaveApproval(context.WithoutCancel(ctx), a); err != nil {
		return err
	}
	if a.State != Pending {
		d.tell(ctx, a, Notifier.Decided)
	}
	d.wake(a.Run)
	return nil
}

// mayVote says why a verdict does not count, if so.
func (d *Desk) mayVote(ctx context.Context, p policy.Principal, a *Approval, v Verdict) error {
	if a.State == Pending && !d.Now().Before(a.Expires) {
		if err := d.expire(ctx, a); err != nil {
			return err
		}
	}
	if v.Decision != Approve && v.Decision != Reject && v.Decision != EditFirst {
		return &Refusal{Invalid, CodeDecision, "decision: must be approve, reject or edit"}
	}
	switch {
	case a.State == Expired, a.Outcome == Expired:
		return &Refusal{Conflict, CodeExpired, "it was not decided in time and the call is not made"}
	case a.State == Cancelled:
		return &Refusal{Conflict, CodeRunOver, "the run has ended: there is nothing left to decide"}
	case a.State != Pending:
		return &Refusal{Conflict, CodeDecided, fmt.Sprintf("it is decided already: %s", a.Outcome)}
	case v.Digest != "" && v.Digest != a.digest(), v.Digest == "" && a.Edit != nil && v.Decision != Reject:
		return &Refusal{Conflict, CodeChanged, "digest: the call is not the one that was shown; look at it again and send the digest that it has now"}
	case v.Decision != Reject && a.OtherPerson && agents.Asked(a.asker(), p.User):
		return ownRequest()
	}
	for _, earlier := range a.Votes {
		if v.Decision == Approve && earlier.User == p.User && earlier.Digest == a.digest() {
			return &Refusal{Conflict, CodeRepeated, "you have approved it already; another person has to"}
		}
	}
	return nil
}

// mayDecide is nil for who may decide on approvals in general.
func mayDecide(p policy.Principal) *Refusal {
	switch {
	case !p.Role.May(policy.ApproveWrite):
		return &Refusal{Forbidden, CodeForbidden, fmt.Sprintf("deciding needs the permission %s, which the role %s does not have: an admin decides", policy.ApproveWrite, p.Role)}
	case p.OnBehalfOf != "":
		return &Refusal{Forbidden, CodeForbidden, "nobody decides on behalf of somebody else"}
	}
	return nil
}

func ownRequest() error {
	return &Refusal{Forbidden, CodeOwn, "a rule wants another person than the one who asked for the run to approve this"}
}

// edit changes the call that is to be approved, if it may be made so.
func (d *Desk) edit(ctx context.Context, a *Approval, patch json.RawMessage) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	x, err := d.Runs.Examine(ctx, a.Run, a.ID, string(patch))
	switch {
	case errors.Is(err, mergepatch.ErrForm), errors.Is(err, mergepatch.ErrRedacted), errors.Is(err, agents.ErrUnusable), errors.Is(err, agents.ErrUnchanged):
		return &Refusal{Invalid, CodeEdit, "patch: " + d.config().Secrets.Redact(err.Error())}
	case errors.Is(err, policy.ErrRevoked), errors.Is(err, policy.ErrExpired):
		return &Refusal{Conflict, CodeRunOver, "who asked for the run may not act any more"}
	case errors.Is(err, agents.ErrCallNotFound):
		return &Refusal{Conflict, CodeRunOver, "the run does not wait for this call any more"}
	case err != nil:
		return fmt.Errorf("looking at the edited call: %w", err)
	case x.Decision.Effect == policy.Deny:
		return &Refusal{Invalid, CodeEdit, "patch: the policy denies the changed call: " + d.config().Secrets.Redact(x.Decision.Message)}
	}
	a.Edit = &Edit{Patch: patch, Digest: x.Digest, Arguments: x.Arguments}
	a.require(x.Decision)
	a.Where = x.Where
	return nil
}
