package agents

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/counting"
	"github.com/svc-gateway/svc/policy"
)

// judged is a call as the gate sees it.
type judged struct {
	analysis *analysis
	decision policy.Decision
	counted  counting.Counted // for the caller to give back when the call is not made
}

// judge analyses a call and decides on it.
func (g *gate) judge(ctx context.Context, s scope, c Call) judged {
	a := analyse(s, c, g.scan)
	d, all := g.decide(ctx, s.policy, a)
	g.judgeable(a, &d)
	return judged{a, d, all}
}

// decide asks the policy, with what its rules want to be counted. What is counted is for the caller to
// give back when the call is not made. A call that cannot be made is denied without asking.
func (g *gate) decide(ctx context.Context, p *policy.Engine, a *analysis) (policy.Decision, counting.Counted) {
	if a.invalid != "" {
		code, _, _ := strings.Cut(a.invalid, ":")
		return policy.Decision{Effect: policy.Deny, Code: code, Reasons: []string{a.invalid}, PolicyHash: p.Hash()}, nil
	}
	a.input.Time = time.Now()
	c := g.counters.Add(ctx, p, &a.input)
	d := p.Decide(a.input)
	if because := p.Because(a.input, g.secrets.RedactJSON); len(because) > 0 {
		d.Reasons = slices.Concat(d.Reasons, because)
	}
	snapshot := policy.Snap(a.input, d, g.secrets.RedactJSON, g.key)
	d.Reasons = slices.Concat(d.Reasons, snapshot.Tainted(a.input.Labels, d))
	a.snapshot = g.encode(snapshot)
	return d, c
}

// encode makes of a snapshot what the record has of the decision's input beside its own columns.
func (g *gate) encode(s policy.Snapshot) json.RawMessage {
	doc, err := json.Marshal(s)
	if err != nil {
		g.log.Error("keeping what a decision depended on failed, it cannot be replayed", zap.Error(err))
		return nil
	}
	return doc
}
