package agents

import (
	"context"

	"github.com/svc-gateway/svc/agents/approval"
	"github.com/svc-gateway/svc/agents/hook"
	"github.com/svc-gateway/svc/caddymodule/app/commands"
	"github.com/svc-gateway/svc/internal/settings"
)

func init() {
	commands.AlsoCheck(commands.Check{What: "hooks", File: settings.Home.Hooks, Look: hook.Check})
}

// approvalHooks runs the operator's commands for approvals.
type approvalHooks struct{ hooks *hook.Hooks }

var _ approval.Notifier = approvalHooks{}

// Requested implements [approval.Notifier].
func (h approvalHooks) Requested(_ context.Context, v approval.View) {
	h.hooks.Requested(hook.Approval{Approval: v.ID, Tool: v.Tool, Agent: v.Agent, User: v.RequestedBy})
}

// Decided implements [approval.Notifier].
func (h approvalHooks) Decided(_ context.Context, v approval.View) {
	a := hook.Approval{Approval: v.ID, Tool: v.Tool, Agent: v.Agent, Decision: v.Outcome}
	switch {
	case v.Auto != "":
		a.User = v.RequestedBy
	case v.Outcome != string(approval.Expired) && len(v.Votes) > 0:
		a.User = v.Votes[len(v.Votes)-1].UserID
	}
	h.hooks.Decided(a)
}
