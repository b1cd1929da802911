package approval

import (
	"context"
	"fmt"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/policy"
)

// record writes durably what a principal decided, or why that does not count. The call, with its digest
// and arguments, is on record since it waits (audit.ToolWait).
func (d *Desk) record(ctx context.Context, typ string, p policy.Principal, a *Approval, word, detail string) error {
	e := audit.Event{
		Type: typ, Run: a.Run, Thread: a.Thread, Agent: a.Agent, Call: a.ID, Tool: a.Tool,
		User: p.User, Role: string(p.Role), OnBehalfOf: p.OnBehalfOf, Address: p.Address, TokenID: p.TokenID, RequestID: p.RequestID,
		Action: string(policy.ApproveWrite), Digest: a.digest(), Rule: a.Rule, PolicyHash: a.PolicyHash, Status: word,
		Reasons: []string{"approval: " + detail, "approval: asked for by " + a.Requester + ", for " + owner(a)},
	}
	if typ == audit.ApprovalRefused { // whether the call is made, the gate records
		e.Decision = string(policy.Deny)
	}
	if a.Edit != nil {
		e.Input = string(a.Edit.Arguments)
	}
	if err := d.Audit.Record(context.WithoutCancel(ctx), e); err != nil {
		return fmt.Errorf("recording a decision: %w", err)
	}
	return nil
}

func owner(a *Approval) string {
	if a.Owner != "" {
		return a.Owner
	}
	if a.OnBehalfOf != "" {
		return a.OnBehalfOf
	}
	return a.Requester
}
