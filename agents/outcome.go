package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/inject"
)

// outcome is how a call ended, as the model is told.
type outcome struct {
	status   CallStatus
	text     string
	labels   []string
	findings []scanner.Finding
	fatal    *Failure // the run cannot go on
}

// outcome scans, redacts and labels what a call gave, and records how it ended.
func (g *gate) outcome(ctx context.Context, in *intent, res Result, err error) outcome {
	o := outcome{status: callStatus(err), text: res.Text, labels: []string{"tool:" + in.Tool}}
	if err != nil {
		o.text = tellModel(in.Tool, o.status, res.Text, err)
	}
	if in.Changed != "" {
		o.text = in.Changed + "\n" + o.text
	}
	o.text, o.findings = g.clean(in.Tool, o.text)
	if err := g.audit.Queue(context.WithoutCancel(ctx), in.outcomeEvent(o, err)); err != nil {
		g.log.Error("recording the outcome of a call failed", zap.String("call", in.Call), zap.Error(err))
		o.fatal = noAudit
	}
	if errors.Is(err, errPrincipalChanged) {
		o.fatal = &Failure{"principal_changed", errPrincipalChanged.Error()}
	}
	return o
}

// outcomeEvent is the record of how the call ended; err is nil when it succeeded.
func (in *intent) outcomeEvent(o outcome, err error) audit.Event {
	e := audit.Event{
		Type: audit.ToolEnd, Run: in.Run, Thread: in.Thread, Agent: in.Agent, Call: in.Call, Tool: in.Tool,
		User: in.Principal.User, Role: string(in.Principal.Role), OnBehalfOf: in.Principal.OnBehalfOf,
		Address: in.Principal.Address, TokenID: in.Principal.TokenID, RequestID: in.Principal.RequestID,
		Output: o.text, Status: string(o.status), Findings: findingsJSON(o.findings), Labels: o.labels,
	}
	if !in.Started.IsZero() {
		e.Duration = time.Since(in.Started).Seconds()
	}
	if err != nil {
		e.Type, e.Error = audit.ToolError, err.Error()
		if p, ok := errors.AsType[*panicError](err); ok {
			e.Traceback = p.stack
		}
	}
	return e
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
