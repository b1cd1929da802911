package agents

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/svc-gateway/svc/agents/eventlog"
	"github.com/svc-gateway/svc/agents/guardrail"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/schema"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/policy"
)

// Answers says what is asked of the answers of agents.
type Answers struct {
	MaxBytes int  // longer ones are told of; 0: none is
	Once     bool // a model whose answer is empty, cut off, a refusal, runs in circles or has another form is not asked again
}

// What became of an answer.
const (
	answerFlagged  = "flagged"  // it stands, and something is wrong with it
	answerAgain    = "again"    // the model is asked once more
	answerWithheld = "withheld" // a rule does not let it out
)

// codeCredentials is the finding of an answer with a credential in it, which readers do not get.
const codeCredentials = "credentials"

// answering is what a turn has to know of its task beside the request.
type answering struct {
	frame  int
	first  *Invocation     // nil: the agent knows what it is to know
	again  bool            // the model was asked once more already
	final  bool            // the answer is the run's
	labels []string        // of all that the agent has seen
	form   json.RawMessage // that was asked for; empty: any
	hold   bool            // nobody sees a piece of the answer before it is checked
	policy *policy.Engine  // that decides on the answer

	messages []model.Message // that the turn begins with, also those that are too much for the model
}

// answering is what a turn of a frame's agent has to know.
func (d *driver) answering(frame int) answering {
	f := &d.run.Frames[frame]
	rules := d.policy.Engine()
	a := answering{frame: frame, again: f.Again, final: frame == 0, labels: f.Labels, policy: rules, hold: rules.Withholds()}
	if f.Known == nil && d.rt.memory != nil {
		in := d.invocation(frame)
		a.first = &in
	}
	if frame == 0 && len(d.run.Form) > 0 {
		a.form, a.hold = d.run.Form, true
	}
	return a
}

// guarded is what becomes of an answer.
type guarded struct {
	status   string // empty: nothing is wrong
	text     string // of the answer
	findings []guardrail.Finding
	rule     string // that withholds it
	failure  *Failure
}

// guard looks at an answer, asks the policy about it, and puts on record what is wrong. What a model says
// beside calls is no answer, but readers see it: the policy is asked about that, too.
func (d *driver) guard(ctx context.Context, a answering, req model.Request, resp model.Response) guarded {
	text := resp.Message.Content
	g, isAnswer := guarded{text: text}, len(resp.Message.ToolCalls) == 0
	if isAnswer {
		check := guardrail.Answer{Text: text, Stopped: resp.Stop, Done: a.messages, MaxLen: d.rt.answers.MaxBytes}
		if len(a.form) > 0 {
			check.Form, _ = schema.Compile("the form", a.form) // the request was checked
		}
		g.findings = guardrail.Check(check)
	}
	if shown := d.rt.gate.secrets.Redact(text); shown != text {
		g.findings = append(g.findings, guardrail.Finding{Check: codeCredentials, Detail: "there was a credential in the answer"})
	}
	out := policy.Output{Agent: req.Agent, Text: text, Length: len(text), Final: a.final && isAnswer, Labels: a.labels, Time: time.Now()}
	for _, f := range g.findings {
		out.Findings = append(out.Findings, f.Check)
		if f.Again && !a.again && !d.rt.answers.Once {
			g.status = answerAgain
		} else if g.status == "" {
			g.status = answerFlagged
		}
	}
	for _, m := range a.messages {
		if m.Role == model.RoleTool {
			out.Tools = append(out.Tools, m.Name)
		}
	}
	dec := a.policy.DecideOutput(d.run.Principal, out)
	if dec.Effect == policy.Deny {
		g.status, g.rule, g.text = answerWithheld, dec.Rule, "This answer is withheld: "+dec.Message
	}
	if g.status == "" && dec.Effect == policy.Allow && len(dec.Observed) == 0 {
		return g
	}
	e := eventBy(d.run.Principal, audit.AnswerChecked)
	e.Run, e.Thread, e.Agent, e.Labels, e.Status = d.run.ID, d.run.Thread, req.Agent, a.labels, g.status
	e.Output, e.Findings = d.rt.gate.secrets.Redact(validText(text)), json.RawMessage(jsonText(g.findings))
	e.Decision, e.Rule, e.Reasons, e.PolicyHash = string(dec.Effect), dec.Rule, d.rt.gate.reasons(dec), dec.PolicyHash
	if err := d.rt.audit.Queue(context.WithoutCancel(ctx), e); err != nil {
		g.failure = noAudit
	}
	return g
}

// tell tells readers what became of an answer.
func (g *guarded) tell(log *eventLog, agent string, frame int, message string) {
	if g.status == "" {
		return
	}
	var checks, details []string
	for _, f := range g.findings {
		checks, details = append(checks, f.Check), append(details, f.Detail)
	}
	if g.rule != "" {
		details = append(details, "rule "+g.rule)
	}
	log.Append(eventlog.Event{
		Type: eventlog.Guarded, Agent: agent, Frame: frame, Message: message, Status: g.status, Code: strings.Join(checks, ","), Content: log.secrets.Redact(strings.Join(details, "; ")),
	})
}
