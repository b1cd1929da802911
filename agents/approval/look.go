package approval

import (
	"context"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/own"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/policy"
)

// Approval reads an approval that the principal may see: of its own runs, or as an admin of all. What
// belongs to somebody else is not found, and that it was asked for is recorded.
func (d *Desk) Approval(ctx context.Context, p policy.Principal, id string) (Approval, error) {
	a, err := d.Store.Approval(ctx, id)
	if err == nil && !own.Sees(p, a.Owner) {
		e := audit.Event{
			Type: audit.PermissionDenied, Run: a.Run, Thread: a.Thread, Call: a.ID, User: p.User, Role: string(p.Role), OnBehalfOf: p.OnBehalfOf,
			Address: p.Address, TokenID: p.TokenID, RequestID: p.RequestID,
			Decision: string(policy.Deny), Status: "denied", Reasons: []string{"owner: it belongs to somebody else"},
		}
		if err := d.Audit.Queue(context.WithoutCancel(ctx), e); err != nil {
			d.Log.Error("recording a refusal failed", zap.Error(err))
		}
		return Approval{}, ErrNotFound
	}
	return a, err
}

// Approvals lists a page of what the principal may see.
func (d *Desk) Approvals(ctx context.Context, p policy.Principal, f Filter) ([]Approval, error) {
	var ok bool
	if f.Owner, ok = own.Listed(p, f.Owner); !ok {
		return nil, nil // no error to ask for, and not shown
	}
	return d.Store.Approvals(ctx, f)
}

// Show is an approval as it may be shown.
func (d *Desk) Show(a Approval) View { return a.Show(d.config().Secrets) }
