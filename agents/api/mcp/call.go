package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/api/rest"
	"github.com/svc-gateway/svc/agents/approval"
	"github.com/svc-gateway/svc/agents/eventlog"
	"github.com/svc-gateway/svc/policy"
)

// maxArguments bounds what one call may say.
const maxArguments = 128 << 10

// question is the id of what a client is asked, at most maxAsked times for a call: clients give up after some ten.
const (
	question = "approval"
	maxAsked = 5
)

// callTool has a run make a client's call, or goes on with one that waited.
func (d *dialect) callTool(r *http.Request, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	c := call{req.Params.Name, req.Params.Arguments}
	if len(c.Arguments) == 0 {
		c.Arguments = json.RawMessage("{}")
	}
	if len(c.Arguments) > maxArguments {
		return failed("the arguments have more than %d bytes", maxArguments), nil
	}
	ctx, p := r.Context(), rest.Caller(r)
	var h agents.Handle
	var st state
	var decided string
	var err error
	if req.Params.RequestState != "" {
		h, st, decided, err = d.goOn(ctx, p, c, req)
	} else {
		h, err = begin(ctx, d.View(r), c)
	}
	if err != nil {
		return d.refused(err)
	}
	o, err := follow(ctx, h, decided)
	if err != nil {
		return nil, errors.New("the client has gone")
	}
	switch {
	case o.wait != nil && elicits(req) && !cancelled(req) && st.Asked < maxAsked:
		return d.ask(p, c, h, o.wait, st.Asked+1)
	case o.wait != nil:
		return waits(h, o.wait), nil
	case o.status == string(agents.CallSuccess):
		return said(o.text), nil
	case o.status != "":
		return failed("%s", o.text), nil
	case o.failed != "":
		return failed("%s", o.failed), nil
	}
	return failed("the call was cancelled"), nil
}

// goOn reads the state that a client gives back, and what its user says. decided is the approval if that
// settles it.
func (d *dialect) goOn(ctx context.Context, p policy.Principal, c call, req *sdk.CallToolRequest) (h agents.Handle, st state, decided string, err error) {
	if st, err = d.seals.open(req.Params.RequestState, p, c); err != nil {
		return h, st, "", err
	}
	if h, err = d.Runtime.As(p).Run(ctx, "", st.Run); err != nil {
		return h, st, "", err
	}
	word := decision(req)
	if word == "" || !p.Role.May(policy.ApproveWrite) { // that somebody else decides is what they were told
		return h, st, "", nil
	}
	a, err := d.Options.Approvals.Decide(ctx, p, st.Approval, approval.Verdict{Decision: word, Digest: st.Digest})
	if refusal, ok := errors.AsType[*approval.Refusal](err); ok && refusal.Code == approval.CodeDecided {
		return h, st, "", nil // somebody else was faster
	}
	if err == nil && a.State != approval.Pending {
		decided = st.Approval
	}
	return h, st, decided, err
}

// answered is what came of the question to the user of a client; nil when there is nothing.
func answered(req *sdk.CallToolRequest) *sdk.ElicitResult {
	answer, _ := req.Params.InputResponses[question].(*sdk.ElicitResult)
	return answer
}

// cancelled reports whether the user has put the question away.
func cancelled(req *sdk.CallToolRequest) bool {
	answer := answered(req)
	return answer != nil && answer.Action == "cancel"
}

// decision is what the user of a client says; empty when nobody has said anything.
func decision(req *sdk.CallToolRequest) approval.Decision {
	switch answer := answered(req); {
	case answer == nil, answer.Action == "cancel", answer.Content["decision"] == "wait":
		return ""
	case answer.Action == "accept" && answer.Content["decision"] == "approve":
		return approval.Approve
	}
	return approval.Reject
}

// ask has a client ask its user, for the nth time.
func (d *dialect) ask(p policy.Principal, c call, h agents.Handle, e *eventlog.Event, nth int) (*sdk.CallToolResult, error) {
	sealed, err := d.seals.seal(state{Run: h.ID, Approval: e.Leave, Digest: e.Digest, Expires: e.Expires, Asked: nth}, p, c)
	if err != nil {
		return nil, errors.New("internal error")
	}
	text := fmt.Sprintf("%s\n\n%s %s\n", e.Content, e.Name, e.Input)
	if e.Where != "" {
		text += "runs " + e.Where + "\n"
	}
	choices := []string{"approve", "reject"}
	if !p.Role.May(policy.ApproveWrite) {
		text += fmt.Sprintf("\nAn administrator has to decide, until %s: service approvals approve %s. Answer when that has happened.", e.Expires.Format(time.RFC3339), e.Leave)
		choices = []string{"wait"}
	}
	return &sdk.CallToolResult{
		RequestState: sealed,
		InputRequests: sdk.InputRequestMap{question: &sdk.ElicitParams{
			Mode: "form", Message: text,
			RequestedSchema: map[string]any{
				"type": "object", "required": []string{"decision"},
				"properties": map[string]any{"decision": map[string]any{"type": "string", "title": "Decision", "enum": choices}},
			},
		}},
	}, nil
}

// waits is the answer to a client that cannot be asked, or whose user has not decided.
func waits(h agents.Handle, e *eventlog.Event) *sdk.CallToolResult {
	res := failed("This call waits for approval until %s. %s\nThe approval is %s, the run is %s of the thread %s. When an administrator has approved it (service approvals approve %s), the call is made and its result is in the run.",
		e.Expires.Format(time.RFC3339), e.Content, e.Leave, h.ID, h.Thread, e.Leave)
	res.StructuredContent = map[string]any{"approval": e.Leave, "run_id": h.ID, "thread_id": h.Thread, "expires_at": e.Expires}
	return res
}

// refused is the answer to a call that no run was made for.
func (d *dialect) refused(err error) (*sdk.CallToolResult, error) {
	if errors.Is(err, errState) {
		return failed("%s", errState), nil
	}
	if limit, ok := errors.AsType[*agents.LimitError](err); ok {
		return failed("%s", limit), nil
	}
	if refusal, ok := errors.AsType[*approval.Refusal](err); ok {
		return failed("%s", refusal), nil
	}
	for _, known := range []error{agents.ErrForbidden, agents.ErrStopping, agents.ErrInactiveUser, agents.ErrRunNotFound, agents.ErrUnavailable} {
		if errors.Is(err, known) {
			return failed("%s", known), nil
		}
	}
	return nil, errors.New("the call could not be made")
}

func said(text string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}
}

func failed(format string, args ...any) *sdk.CallToolResult {
	res := said(fmt.Sprintf(format, args...))
	res.IsError = true
	return res
}
