package langgraph

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/api/rest"
	"github.com/svc-gateway/svc/agents/approval"
	"github.com/svc-gateway/svc/agents/own"
)

// resumeNowhere is the answer to a resume without a thread.
var resumeNowhere = rest.Invalid("command.resume: needs a thread; POST /threads/{thread_id}/runs/… names one")

// resume answers what a thread's run waits for, as far as the command answers it, and goes on with the
// same run. Calls are decided at the desk of approvals, which says whether the caller may.
func (d *dialect) resume(ctx context.Context, r *http.Request, thread string, body *RunBody, modes []mode) (begun, error) {
	if thread == "" {
		return begun{}, resumeNowhere
	}
	if more := besideAnswer(body.Command.Update, body.Command.Goto); more != "" {
		return begun{}, rest.Invalid("command." + more + ": cannot come with command.resume" + insteadOfMore)
	}
	view := d.View(r)
	t, err := view.Thread(ctx, thread)
	if err != nil {
		return begun{}, err
	}
	now, err := view.StateOf(ctx, t, "")
	if err != nil {
		return begun{}, err
	}
	if len(now.Interrupts) == 0 {
		return begun{}, notInterrupted
	}
	answers, err := readAnswers(body.Command.Resume, now.Interrupts, t.Owner != own.Of(rest.Caller(r)))
	if err != nil {
		return begun{}, err
	}
	run, err := view.Run(ctx, thread, now.Interrupts[0].Run)
	if err != nil {
		return begun{}, err
	}
	b, err := d.replay(ctx, run, body, modes)
	if err != nil {
		return begun{}, err
	}
	for _, a := range answers {
		if _, err := d.Options.Approvals.Decide(ctx, rest.Caller(r), a.approval, a.verdict); err != nil {
			return begun{}, err
		}
	}
	if slices.ContainsFunc(now.Interrupts, func(i agents.Interrupt) bool { return i.Before || i.After }) {
		if _, err := view.Resume(ctx, thread, agents.Resumption{Run: run.ID}); err != nil {
			return begun{}, err
		}
	}
	return b, d.Runtime.Wake(ctx, run.ID)
}

// besideAnswer names what came with an answer and cannot; empty: nothing. A person approves a call as it was
// asked for, in the state that it was asked for in.
func besideAnswer(update, goTo json.RawMessage) string {
	switch {
	case !isNull(update):
		return "update"
	case !isNull(goTo):
		return "goto"
	}
	return ""
}

// insteadOfMore is what to do instead.
const insteadOfMore = "; POST /threads/{thread_id}/state changes the state, and what waits is asked for anew"

// goOn is a run that a stop was resumed of.
func (d *dialect) goOn(ctx context.Context, run agents.Handle, body *RunBody, modes []mode) (begun, error) {
	return d.replay(ctx, run, body, modes)
}

// replay follows the log of a run that waits to where it waits, so that what is told from there on has its
// numbers.
func (d *dialect) replay(ctx context.Context, run agents.Handle, body *RunBody, modes []mode) (begun, error) {
	b := begun{
		reading: reading{run: run, t: newTranslator(d.about(run.RunInfo), modes, body.StreamSubgraphs)}, cancel: body.OnDisconnect == "cancel",
	}
	b.t.modes = nil
	err := d.turns(ctx, &b.reading, func([]told) bool { return !b.t.paused })
	b.t.take()
	b.t.modes = modes
	b.after = b.t.next - 1
	if b.t.paused {
		b.t.resume()
	}
	return b, err
}

// verdict is what is said of one call.
type verdict struct {
	approval string
	verdict  approval.Verdict
}

// readAnswers reads the answer to what is waited for: one value for the only interrupt, or values by the
// ids of interrupts. In a thread of somebody else only these are taken: that one can have another call wait
// there from one moment to the next, and an answer is for what its sender has seen.
func readAnswers(doc json.RawMessage, pending []agents.Interrupt, foreign bool) ([]verdict, error) {
	byID := object(doc)
	named := false
	for _, i := range pending {
		named = named || byID[i.ID] != nil
	}
	if !named && len(pending) > 1 {
		return nil, rest.Invalid(fmt.Sprintf("command.resume: %d interrupts are pending; give the answers by their ids", len(pending)))
	}
	var all []verdict
	for _, i := range pending {
		answer, where := doc, "command.resume"
		if named {
			if answer = byID[i.ID]; answer == nil {
				continue // it goes on waiting
			}
			where += "." + i.ID
		}
		if len(i.Calls) == 0 { // a stop: whatever is said goes on
			continue
		}
		if foreign && !named {
			return nil, rest.Invalid("command.resume: this is another user's thread, where something else may wait by now; give the answer by the id of the interrupt, " + i.ID)
		}
		some, err := readDecisions(answer, where, i.Calls)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	for id := range byID {
		if named && !slices.ContainsFunc(pending, func(i agents.Interrupt) bool { return i.ID == id }) {
			return nil, rest.Invalid("command.resume." + id + ": no such interrupt is pending")
		}
	}
	return all, nil
}

// readDecisions reads what is said of the calls of one interrupt.
func readDecisions(doc json.RawMessage, where string, calls []agents.WaitingCall) ([]verdict, error) {
	list := []json.RawMessage{doc}
	one := true
	if members := object(doc); members["decisions"] != nil {
		doc, where = members["decisions"], where+".decisions"
		if kindOf(doc) != "array" {
			return nil, rest.Invalid(where + ": must be of type array, got " + kindOf(doc))
		}
	}
	if kindOf(doc) == "array" {
		one = false
		if err := json.Unmarshal(doc, &list); err != nil {
			return nil, rest.Invalid(where + ": is no JSON")
		}
		if len(list) != len(calls) {
			return nil, rest.Invalid(fmt.Sprintf("%s: %d calls wait, got %d decisions; give one for each, in the order of action_requests", where, len(calls), len(list)))
		}
	}
	all := make([]verdict, len(calls))
	for i, c := range calls {
		doc, at := list[0], where
		if !one {
			doc, at = list[i], fmt.Sprintf("%s[%d]", where, i)
		}
		v, err := readDecision(doc, at, c)
		if err != nil {
			return nil, err
		}
		v.Digest = c.Digest
		all[i] = verdict{c.Approval, v}
	}
	return all, nil
}

// said are the words of clients for decisions.
var said = map[string]approval.Decision{
	"approve": approval.Approve, "accept": approval.Approve, "approved": approval.Approve, "yes": approval.Approve, "y": approval.Approve, "true": approval.Approve,
	"reject": approval.Reject, "ignore": approval.Reject, "respond": approval.Reject, "response": approval.Reject, "rejected": approval.Reject,
	"no": approval.Reject, "n": approval.Reject, "false": approval.Reject,
	"edit": approval.EditFirst,
}

// readDecision reads what is said of one call: a decision of the current chat UIs, one of their
// predecessors, or a plain yes or no.
func readDecision(doc json.RawMessage, where string, c agents.WaitingCall) (approval.Verdict, error) {
	var v approval.Verdict
	var in struct {
		Type     string `json:"type"`
		Decision string `json:"decision"`
		Approved *bool  `json:"approved"`
		Message  string `json:"message"`
		Comment  string `json:"comment"`
		Edited   *struct {
			Name string          `json:"name"`
			Args json.RawMessage `json:"args"`
		} `json:"edited_action"`
		Args json.RawMessage `json:"args"` // of the predecessors: a text, or {action, args}
	}
	word := ""
	switch kindOf(doc) {
	case "string":
		_ = json.Unmarshal(doc, &word) // it is one
	case "boolean":
		word = string(doc)
	case "object":
		if err := json.Unmarshal(doc, &in); err != nil {
			return v, rest.Invalid(where + ": " + wrongType(err))
		}
		word = in.Type
		if word == "" {
			word = in.Decision
		}
		if word == "" && in.Approved != nil {
			word = fmt.Sprint(*in.Approved)
		}
	}
	var ok bool
	if v.Decision, ok = said[word]; !ok {
		return v, rest.Invalid(where + ": must be a decision such as {\"type\": \"approve\"}; the types are approve, edit and reject")
	}
	if v.Comment = in.Message; v.Comment == "" {
		v.Comment = in.Comment
	}
	if v.Comment == "" && kindOf(in.Args) == "string" {
		_ = json.Unmarshal(in.Args, &v.Comment) // it is one
	}
	if len(v.Comment) > maxComment {
		return v, rest.Invalid(fmt.Sprintf("%s.message: must not be longer than %d bytes", where, maxComment))
	}
	if v.Decision != approval.EditFirst {
		return v, nil
	}
	name, args := c.Tool, json.RawMessage(nil)
	if in.Edited != nil {
		name, args = in.Edited.Name, in.Edited.Args
	} else if old := object(in.Args); old != nil {
		if args = in.Args; old["args"] != nil && old["action"] != nil {
			_ = json.Unmarshal(old["action"], &name)
			args = old["args"]
		}
	}
	switch {
	case object(args) == nil:
		return v, rest.Invalid(where + ".edited_action.args: must be of type object")
	case name != c.Tool && name != "":
		return v, rest.Invalid(where + ".edited_action.name: must be " + c.Tool + "; another tool cannot be called in its place")
	}
	v.Patch = patchOf(c.Input, args)
	return v, nil
}

// maxComment bounds what is said with a decision, in bytes.
const maxComment = 2000

// patchOf is what changes the arguments that were shown into others, as RFC 7396 has it. What was shown
// and is sent back as it was is not in it: it may stand for a credential.
func patchOf(shown, edited json.RawMessage) json.RawMessage {
	was, is := object(shown), object(edited)
	patch := map[string]json.RawMessage{}
	for name := range was {
		if is[name] == nil {
			patch[name] = json.RawMessage("null")
		}
	}
	for name, value := range is {
		switch {
		case same(was[name], value):
		case object(value) != nil: // which is merged into what is there
			patch[name] = patchOf(was[name], value)
		default:
			patch[name] = value
		}
	}
	return encode(patch)
}

// same reports whether an edited value is the one that was shown, to the last figure, or as JavaScript writes it,
// whose numbers are not exact above 2⁵³.
func same(shown, edited json.RawMessage) bool {
	is := exact(edited)
	var rounded any
	return shown != nil && is != nil && (bytes.Equal(is, exact(shown)) ||
		json.Unmarshal(shown, &rounded) == nil && bytes.Equal(is, encode(rounded)))
}

// exact returns a value of JSON as all others that are the same have it, nil if it is none.
func exact(v json.RawMessage) []byte {
	d := json.NewDecoder(bytes.NewReader(v))
	d.UseNumber()
	var x any
	if d.Decode(&x) != nil {
		return nil
	}
	return encode(x)
}
