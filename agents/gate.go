package agents

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/counting"
	"github.com/svc-gateway/svc/agents/hook"
	"github.com/svc-gateway/svc/agents/shown"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/contain"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/provenance"
	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/redact"
)

// gate is the only way to a tool. A call passes admit (analyse, decide, record), run and
// record of the outcome, in this order; what it may do is decided on the principal as it is
// now, and a call whose intent cannot be recorded does not happen.
type gate struct {
	counters counting.Counters
	key      []byte // of the hashes that stand for secrets in records
	holds    Holds  // nil: a call that needs leave is denied
	audit    *audit.Log
	identity Identity
	timeout  time.Duration // default deadline of a call
	log      *zap.Logger
	secrets  *redact.Secrets
	scan     func(text string) []scanner.Finding // for injections
	hooks    *hook.Hooks                         // for the bodies of tools to fire; nil: none
}

// scope is where a call comes from.
type scope struct {
	run, thread, agent string
	principal          policy.Principal
	policy             *policy.Engine              // that the run keeps
	tools              map[string]boundTool        // what this agent has, and nothing else
	ours               func(context.Context) error // whether the run is still this process's
	foreign            bool                        // the thread is somebody else's
	auto               bool                        // the run goes on without a person where that is allowed
	to                 handover                    // what its agent may hand on
	trail              provenance.Trail            // what was said and read before the call
}

// intent is a call whose start has been recorded.
type intent struct {
	Run       string           `json:"run"`
	Thread    string           `json:"thread"`
	Agent     string           `json:"agent"`
	Call      string           `json:"call"`
	Tool      string           `json:"tool"`
	Principal policy.Principal `json:"principal"` // as resolved for the decision
	Started   time.Time        `json:"started"`
	Approved  bool             `json:"approved,omitempty"`
	Changed   string           `json:"changed,omitempty"` // how a person changed the arguments, for the model

	counted counting.Counted // for the rules; given back when the tool fails
}

// graceAfterDeadline is how long a tool may take to notice that its context has ended.
const graceAfterDeadline = 2 * time.Second

// admit decides on a call and records the decision.
func (g *gate) admit(ctx context.Context, s scope, c Call) verdict {
	if ctx.Err() != nil {
		return tooLate(c)
	}
	principal, err := g.identity.Resolve(ctx, s.principal)
	if err == nil && principal.Role != s.principal.Role && policy.Weaker(principal.Role, s.principal.Role) == principal.Role {
		err = errDemoted
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return tooLate(c)
	case err != nil:
		f := principalFailure(err)
		g.log.Warn("a run's user may not act any more", zap.String("run", s.run), zap.String("code", f.Code), zap.Error(err))
		return g.refuse(ctx, s, c, nil, policy.Decision{
			Effect: policy.Deny, Code: f.Code, PolicyHash: s.policy.Hash(), Reasons: []string{"principal: " + f.Code}, Message: f.Message,
		}, Leave{}, f)
	}
	s.principal = principal
	j := g.judge(ctx, s, c)
	c.Arguments = cmp.Or(j.analysis.raw, c.Arguments)
	started := false
	defer func() {
		if !started {
			g.counters.GiveBack(ctx, j.counted)
		}
	}()
	var l Leave
	switch j.decision.Effect {
	case policy.Allow, policy.Log:
	case policy.Approve:
		var v verdict
		if l, v = g.leave(ctx, s, &c, &j); v != nil {
			return v
		}
	default:
		return g.refuse(ctx, s, c, j.analysis, j.decision, Leave{}, nil)
	}
	if err := s.ours(ctx); err != nil {
		return tooLate(c)
	}
	e := g.event(audit.ToolStart, s, c, j.analysis, j.decision)
	e.Status = string(CallStarted)
	if err := g.audit.Record(context.WithoutCancel(ctx), e); err != nil {
		return g.unrecorded(c, err)
	}
	g.tell(s, c, j.decision)
	started = true
	return admitted{&intent{
		Run: s.run, Thread: s.thread, Agent: s.agent, Call: c.ID, Tool: c.Name, Principal: principal, Started: time.Now(),
		Approved: l.State == LeaveGranted, Changed: j.analysis.changed, counted: j.counted,
	}, j.analysis, l}
}

// tooLate is the verdict on a call that the end of its run came before. One that was asked for
// has a record, which the end of the run adds the outcome to.
func tooLate(c Call) verdict {
	if c.Asked {
		return waiting{}
	}
	return refused{outcome: notMade(c)}
}

// call runs the tool of an admitted call and records its outcome.
func (g *gate) call(ctx context.Context, s scope, in *intent, a *analysis) outcome {
	now, err := g.identity.Resolve(context.WithoutCancel(ctx), in.Principal)
	if err != nil || now.Role != in.Principal.Role {
		return g.outcome(ctx, in, Result{}, errPrincipalChanged)
	}
	if err := s.ours(ctx); err != nil {
		return g.outcome(ctx, in, Result{}, err)
	}
	if ctx.Err() != nil { // its agent's time ended while it waited
		return g.outcome(ctx, in, Result{}, context.Cause(ctx))
	}
	timeout := a.tool.Timeout
	if timeout == 0 {
		timeout = g.timeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("%w after %s", errToolTimeout, timeout))
	defer cancel()
	ctx = hook.NewContext(ctx, g.hooks)
	tc := ToolContext{in.Principal, in.Run, in.Thread, in.Agent, in.Call, in.Approved, a.where}
	res, err := contain.Run(ctx, graceAfterDeadline, func(ctx context.Context) (Result, error) { return a.tool.run(ctx, tc, a.args) })
	return g.outcome(ctx, in, res, err)
}

// refuse records a call that is not made and tells the model why.
func (g *gate) refuse(ctx context.Context, s scope, c Call, a *analysis, d policy.Decision, l Leave, fatal *Failure) verdict {
	status := l.status()
	e := g.event(audit.ToolDenied, s, c, a, d)
	e.Status = string(status)
	if err := g.audit.Record(context.WithoutCancel(ctx), e); err != nil {
		return g.unrecorded(c, err)
	}
	g.tell(s, c, d)
	text := d.Message
	if text == "" && len(d.Reasons) > 0 {
		text = d.Reasons[0]
	}
	if a != nil && a.changed != "" {
		text += " " + a.changed
	}
	if d.Code != policy.CodeApproval {
		text = strings.TrimSpace(text + " " + d.Remedy())
	}
	if l.State != LeaveRejected { // which says by whom
		text = string(status) + ": " + text
	}
	return refused{outcome{
		status: status, code: d.Code, text: g.secrets.Redact(text),
		labels: []string{"tool:" + c.Name}, fatal: fatal,
	}, l}
}

// tell writes into the log what rules wanted to be seen, and what was not allowed, with what decided.
func (g *gate) tell(s scope, c Call, d policy.Decision) {
	if d.Effect == policy.Allow && len(d.Observed) == 0 {
		return
	}
	g.log.Info("a rule applied to a call", zap.String("effect", string(d.Effect)), zap.String("rule", d.Rule), zap.String("code", d.Code),
		zap.String("user", s.principal.User), zap.String("agent", s.agent), zap.String("tool", g.secrets.Redact(c.Name)),
		zap.String("run", s.run), zap.String("call", c.ID), zap.Strings("reasons", g.reasons(d)))
}

// reasons are those of the decision, without secrets.
func (g *gate) reasons(d policy.Decision) []string {
	all := make([]string, len(d.Reasons))
	for i, r := range d.Reasons {
		all[i] = g.secrets.Redact(r)
	}
	return all
}

// event is the record of a decision on a call.
func (g *gate) event(typ string, s scope, c Call, a *analysis, d policy.Decision) audit.Event {
	e := eventBy(s.principal, typ)
	e.Run, e.Thread, e.Agent, e.Call, e.Tool, e.Labels = s.run, s.thread, s.agent, c.ID, c.Name, c.Labels
	e.Input = shown.Arguments(g.secrets, c.Arguments)
	e.Decision, e.Rule, e.Reasons, e.PolicyHash = string(d.Effect), d.Rule, g.reasons(d), d.PolicyHash
	if a != nil {
		e.Action, e.Digest, e.Findings, e.PolicyInput = string(a.action), a.digest, findingsJSON(a.findings), a.snapshot
	}
	return e
}

// unrecorded is the verdict on a call that does not happen because it could not be recorded.
func (g *gate) unrecorded(c Call, err error) verdict {
	g.log.Error("recording a call failed, it is not made", zap.Error(err))
	if c.Asked { // the end of the run adds the outcome to its record
		return waiting{fatal: noAudit}
	}
	return refused{outcome: outcome{status: CallError, text: "error: the call could not be recorded and did not happen", fatal: noAudit}}
}
