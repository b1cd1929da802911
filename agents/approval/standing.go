package approval

import (
	"context"
	"errors"
	"fmt"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/policy"
)

// standing takes away the approvals of people who may not decide any more, and reports whether there were
// some. That they do not count any more is recorded.
func (d *Desk) standing(ctx context.Context, a *Approval) (changed bool, err error) {
	var votes []Vote
	for _, v := range a.Votes {
		refusal, err := d.stillDecides(ctx, v)
		if err != nil {
			return false, err
		}
		if refusal == nil {
			votes = append(votes, v)
			continue
		}
		voter := policy.Principal{User: v.User, Address: v.Address, TokenID: v.TokenID}
		if err := d.record(ctx, audit.ApprovalRefused, voter, a, refusal.Code, "does not count any more: "+refusal.Detail); err != nil {
			return false, err
		}
		changed = true
	}
	a.Votes = votes
	return changed, nil
}

// stillDecides is nil for a vote that counts: it is a no, or of who may still decide.
func (d *Desk) stillDecides(ctx context.Context, v Vote) (*Refusal, error) {
	if v.Decision == Reject || v.Source == policy.SourceNone || v.Source == policy.SourceOS {
		return nil, nil
	}
	voter := policy.Principal{Source: policy.SourceNone, OnBehalfOf: v.User}
	if v.Source == policy.SourceToken && v.TokenID != "" { // which may be revoked alone
		voter = policy.Principal{User: v.User, Source: v.Source, TokenID: v.TokenID}
	}
	now, err := d.Identity.Resolve(ctx, voter)
	switch {
	case errors.Is(err, policy.ErrRevoked), errors.Is(err, policy.ErrExpired):
		return &Refusal{Forbidden, CodeForbidden, fmt.Sprintf("the account or the token of %s is gone or cut off", v.User)}, nil
	case err != nil:
		return nil, fmt.Errorf("looking whether %s may still decide: %w", v.User, err)
	}
	now.OnBehalfOf = ""
	return mayDecide(now), nil
}
