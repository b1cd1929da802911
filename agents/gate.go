package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/inject"
	"github.com/svc-gateway/svc/scanner/redact"
)

// gate is the only way to a tool. A call passes admit (analyse, decide, record), run and
// record of the outcome, in this order; what it may do is decided on the principal as it is
// now, and a call whose intent cannot be recorded does not happen.
type gate struct {
	policy   *policy.Engine
	audit    *audit.Log
	identity Identity
	timeout  time.Duration // default deadline of a call
	log      *zap.Logger
	secrets  *redact.Secrets
}

// scope is where a call comes from.
type scope struct {
	run, thread, agent string
	principal          policy.Principal
	tools              map[string]boundTool // what this agent has, and nothing else
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
}

// outcome is how a call ended, as the model is told.
type outcome struct {
	status   CallStatus
	text     string
	labels   []string
	findings []scanner.Finding
	fatal    *Failure // the run cannot go on
}

// graceAfterDeadline is how long a tool may take to notice that its context has ended.
const graceAfterDeadline = 2 * time.Second

// admit decides on a call and records the decision. It returns the recorded intent of a call
// that may start, else its outcome.
func (g *gate) admit(ctx context.Context, s scope, c Call) (*intent, *analysis, *outcome) {
	if ctx.Err() != nil {
		return nil, nil, notMade(c)
	}
	principal, err := g.identity.Resolve(ctx, s.principal)
	if err == nil && principal.Role != s.principal.Role && policy.Weaker(principal.Role, s.principal.Role) == principal.Role {
		err = errDemoted
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, nil, notMade(c)
	case err != nil:
		f := principalFailure(err)
		g.log.Warn("a run's user may not act any more", zap.String("run", s.run), zap.String("code", f.Code), zap.Error(err))
		return nil, nil, g.refuse(ctx, s, c, nil, policy.Decision{
			Effect: policy.Deny, PolicyHash: g.policy.Hash(), Reasons: []string{"principal: " + f.Code}, Message: f.Message,
		}, f)
	}
	s.principal = principal
	a := analyse(s, c)
	d := a.decide(g.policy)
	switch d.Effect {
	case policy.Allow, policy.Log:
	case policy.Approve:
		d.Reasons = append(slices.Clone(d.Reasons), "approval: required, and this version cannot ask for one")
		d.Message = strings.TrimSpace(d.Message + " It needs a person's approval, and this version cannot ask for one.")
		d.Effect = policy.Deny
		return nil, nil, g.refuse(ctx, s, c, a, d, nil)
	default:
		return nil, nil, g.refuse(ctx, s, c, a, d, nil)
	}
	e := g.event(audit.ToolStart, s, c, a, d)
	e.Status = string(CallStarted)
	if err := g.audit.Record(context.WithoutCancel(ctx), e); err != nil {
		return nil, nil, g.unrecorded(err)
	}
	in := &intent{s.run, s.thread, s.agent, c.ID, c.Name, principal, time.Now()}
	return in, a, nil
}

// call runs the tool of an admitted call and records its outcome.
func (g *gate) call(ctx context.Context, in *intent, a *analysis) outcome {
	now, err := g.identity.Resolve(context.WithoutCancel(ctx), in.Principal)
	if err != nil || now.Role != in.Principal.Role {
		return g.conclude(ctx, in, Result{}, errPrincipalChanged)
	}
	timeout := a.tool.Timeout
	if timeout == 0 {
		timeout = g.timeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("%w after %s", errToolTimeout, timeout))
	defer cancel()
	res, err := contain(ctx, a.tool.run, ToolContext{in.Principal, in.Run, in.Thread, in.Agent, in.Call}, a.args)
	return g.conclude(ctx, in, res, err)
}

// contain runs a tool so that neither a panic nor a tool that ignores its deadline harms the
// run. A tool that does not return in time is left behind.
func contain(ctx context.Context, run toolFunc, tc ToolContext, args map[string]any) (Result, error) {
	type ended struct {
		res Result
		err error
	}
	done := make(chan ended, 1)
	go func() {
		var e ended
		defer func() {
			if p := recover(); p != nil {
				e = ended{err: &panicError{p, string(debug.Stack())}}
			}
			done <- e
		}()
		e.res, e.err = run(ctx, tc, args)
	}()
	select {
	case e := <-done:
		return e.res, e.err
	case <-ctx.Done():
	}
	grace := time.NewTimer(graceAfterDeadline)
	defer grace.Stop()
	select {
	case e := <-done:
		if e.err == nil {
			return e.res, nil
		}
		return e.res, errors.Join(context.Cause(ctx), e.err)
	case <-grace.C:
		return Result{}, context.Cause(ctx)
	}
}

// conclude scans, redacts and labels what a call gave, and records its outcome.
func (g *gate) conclude(ctx context.Context, in *intent, res Result, err error) outcome {
	o := outcome{status: callStatus(err), text: res.Text, labels: []string{"tool:" + in.Tool}}
	if err != nil {
		o.text = tellModel(in.Tool, o.status, res.Text, err)
	}
	o.text, o.findings = g.clean(in.Tool, o.text)
	e := audit.Event{
		Type: audit.ToolEnd, Run: in.Run, Thread: in.Thread, Agent: in.Agent, Call: in.Call, Tool: in.Tool,
		User: in.Principal.User, Role: string(in.Principal.Role), OnBehalfOf: in.Principal.OnBehalfOf,
		Address: in.Principal.Address, TokenID: in.Principal.TokenID,
		Output: o.text, Duration: time.Since(in.Started).Seconds(), Status: string(o.status),
		Findings: findingsJSON(o.findings), Labels: o.labels,
	}
	if err != nil {
		e.Type, e.Error = audit.ToolError, err.Error()
		var p *panicError
		if errors.As(err, &p) {
			e.Traceback = p.stack
		}
	}
	if err := g.audit.Queue(context.WithoutCancel(ctx), e); err != nil {
		g.log.Error("recording the outcome of a call failed", zap.String("call", in.Call), zap.Error(err))
		o.fatal = noAudit
	}
	if errors.Is(err, errPrincipalChanged) {
		o.fatal = &Failure{"principal_changed", errPrincipalChanged.Error()}
	}
	return o
}

// clean makes a tool's text fit to be recorded and to be given back to the model.
func (g *gate) clean(tool, text string) (string, []scanner.Finding) {
	text = validText(text)
	findings := inject.Scan(text)
	for _, f := range findings {
		g.log.Warn("injection finding in tool output", zap.String("tool", tool),
			zap.String("category", string(f.Category)), zap.String("rule", f.Rule), zap.String("confidence", string(f.Confidence)))
	}
	return g.secrets.Redact(text), findings
}

// refuse records a denied call and tells the model why.
func (g *gate) refuse(ctx context.Context, s scope, c Call, a *analysis, d policy.Decision, fatal *Failure) *outcome {
	e := g.event(audit.ToolDenied, s, c, a, d)
	e.Status = string(CallDenied)
	if err := g.audit.Record(context.WithoutCancel(ctx), e); err != nil {
		return g.unrecorded(err)
	}
	text := d.Message
	if text == "" && len(d.Reasons) > 0 {
		text = d.Reasons[0]
	}
	return &outcome{
		status: CallDenied, text: g.secrets.Redact("denied: " + text),
		labels: []string{"tool:" + c.Name}, fatal: fatal,
	}
}

// event is the record of a decision on a call.
func (g *gate) event(typ string, s scope, c Call, a *analysis, d policy.Decision) audit.Event {
	e := audit.Event{
		Type: typ, Run: s.run, Thread: s.thread, Agent: s.agent, Call: c.ID, Tool: c.Name,
		User: s.principal.User, Role: string(s.principal.Role), OnBehalfOf: s.principal.OnBehalfOf,
		Address: s.principal.Address, TokenID: s.principal.TokenID,
		Input: string(g.secrets.RedactJSON([]byte(c.Arguments))), Decision: string(d.Effect), Rule: d.Rule, Reasons: d.Reasons, PolicyHash: d.PolicyHash,
		Labels: c.Labels,
	}
	if a != nil {
		e.Action, e.Digest, e.Findings = string(a.action), a.digest, findingsJSON(a.findings)
	}
	return e
}

// unrecorded is the outcome of a call that did not happen because it could not be recorded.
func (g *gate) unrecorded(err error) *outcome {
	g.log.Error("recording a call failed, it is not made", zap.Error(err))
	return &outcome{status: CallError, text: "error: the call could not be recorded and did not happen", fatal: noAudit}
}

func findingsJSON(f []scanner.Finding) json.RawMessage {
	if len(f) == 0 {
		return nil
	}
	b, err := json.Marshal(f)
	if err != nil {
		panic(fmt.Errorf("encoding findings: %w", err)) // strings and numbers always encode
	}
	return b
}
