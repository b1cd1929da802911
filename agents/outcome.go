package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/todo"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/contain"
	"github.com/svc-gateway/svc/scanner"
)

// outcome is how a call ended, as the model is told.
type outcome struct {
	status   CallStatus
	code     string // of a refusal, for programs
	text     string
	labels   []string
	findings []scanner.Finding
	todos    *[]todo.Item // the agent's plan from now on; nil: it stays
	fatal    *Failure     // the run cannot go on

	took time.Duration // from the intent to the end; zero without an intent
	past bool          // a process that has died recorded it, and its hooks were that process's
}

// outcome scans, redacts and labels what a call gave, and records how it ended.
func (g *gate) outcome(ctx context.Context, in *intent, res Result, err error) outcome {
	o := outcome{status: callStatus(err), text: res.Text, labels: append([]string{"tool:" + in.Tool}, res.Labels...), took: in.took()}
	if err == nil {
		o.todos = res.Todos
	} else {
		o.text = tellModel(in.Tool, o.status, res.Text, err)
	}
	if o.status == CallError { // after a time-out nobody knows what was done
		g.counters.GiveBack(ctx, in.counted)
	}
	if in.Changed != "" {
		o.text = in.Changed + "\n" + o.text
	}
	o.text, o.findings = g.clean(in.Tool, o.text)
	e := in.outcomeEvent(o, err)
	e.Error, e.Traceback = g.secrets.Redact(e.Error), g.secrets.Redact(e.Traceback)
	if err := g.audit.Queue(context.WithoutCancel(ctx), e); err != nil {
		g.log.Error("recording the outcome of a call failed", zap.String("call", in.Call), zap.Error(err))
		o.fatal = noAudit
	}
	if errors.Is(err, errPrincipalChanged) {
		o.fatal = &Failure{"principal_changed", errPrincipalChanged.Error()}
	}
	return o
}

// took is the time since the call began; zero when that is not known.
func (in *intent) took() time.Duration {
	if in.Started.IsZero() {
		return 0
	}
	return max(0, time.Since(in.Started)) // another machine's clock may be ahead
}

// outcomeEvent is the record of how the call ended; err is nil when it succeeded.
func (in *intent) outcomeEvent(o outcome, err error) audit.Event {
	e := eventBy(in.Principal, audit.ToolEnd)
	e.Run, e.Thread, e.Agent, e.Call, e.Tool = in.Run, in.Thread, in.Agent, in.Call, in.Tool
	e.Output, e.Status, e.Findings, e.Labels = o.text, string(o.status), findingsJSON(o.findings), o.labels
	e.Duration = o.took.Seconds()
	if err != nil {
		e.Type, e.Error, e.Traceback = audit.ToolError, err.Error(), contain.Traceback(err)
	}
	return e
}

// clean makes a tool's text fit to be recorded and to be given back to the model.
func (g *gate) clean(tool, text string) (string, []scanner.Finding) {
	text = validText(text)
	findings := g.scan(text)
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
