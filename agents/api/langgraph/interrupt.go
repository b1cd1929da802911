package langgraph

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/svc-gateway/svc/agents"
)

// channelInterrupt is where streams tell of interrupts.
const channelInterrupt = "__interrupt__"

// Interrupt is what a run waits for, as the protocol shows it.
type Interrupt struct {
	ID    string         `json:"id"`
	Value InterruptValue `json:"value"`
}

// InterruptValue is the payload that chat UIs know: calls that a person decides on.
type InterruptValue struct {
	Actions []ActionRequest `json:"action_requests"`
	Reviews []ReviewConfig  `json:"review_configs"`
}

// ActionRequest is one call to decide on.
type ActionRequest struct {
	Name        string          `json:"name"`
	Args        json.RawMessage `json:"args"`
	Description string          `json:"description"`

	ToolCallID string `json:"tool_call_id,omitempty"`
	Approval   string `json:"approval_id,omitempty"`
	Digest     string `json:"digest,omitempty"`
	Where      string `json:"where,omitempty"`
	ExpiresAt  string `json:"expires_at,omitempty"`
}

// ReviewConfig says what a person may decide.
type ReviewConfig struct {
	Action  string   `json:"action_name"`
	Allowed []string `json:"allowed_decisions"`
}

// decisions are what a person may decide on a call.
var decisions = []string{"approve", "edit", "reject"}

// shownInterrupt is an interrupt of the runtime as the protocol shows it.
func shownInterrupt(i agents.Interrupt) Interrupt {
	v := InterruptValue{Actions: []ActionRequest{}, Reviews: []ReviewConfig{}}
	for _, c := range i.Calls {
		description := c.Reason
		if c.People > 1 {
			description += fmt.Sprintf(" %d different people have to agree.", c.People)
		}
		if c.Other {
			description += " Whoever asked for the run may not approve it."
		}
		a := ActionRequest{Name: c.Tool, Args: c.Input, Description: description, ToolCallID: c.Call, Approval: c.Approval, Digest: c.Digest, Where: c.Where}
		if !c.Expires.IsZero() {
			a.ExpiresAt = stamp(c.Expires)
		}
		v.Actions = append(v.Actions, a)
		if !slices.ContainsFunc(v.Reviews, func(r ReviewConfig) bool { return r.Action == c.Tool }) {
			v.Reviews = append(v.Reviews, ReviewConfig{c.Tool, decisions})
		}
	}
	return Interrupt{i.ID, v}
}

// pause tells what the run waits for. The stream may end here, or go on when somebody decides.
func (t *translator) pause() {
	t.paused = true
	for _, no := range slices.Sorted(maps.Keys(t.frames)) {
		f := t.frames[no]
		if len(f.waiting) == 0 {
			continue
		}
		asked := t.interrupt(f)
		own := []Interrupt{shownInterrupt(asked)}
		t.also.asksFor(f, asked)
		result := func() any {
			return map[string]any{"id": taskID(f.present, f.node), "name": f.node, "error": nil, "interrupts": own}
		}
		t.tell(modeTasks, f, "tasks", result)
		t.debug(f, "task_result", f.step+1, result)
		if f.ns != "" {
			t.tellInterrupts(f, own)
		}
	}
	t.tellInterrupts(t.frames[0], t.interrupts())
	t.also.turns(graphRunning, graphInterrupted)
	t.tell(always, nil, "end", func() any { return nil })
}

func (t *translator) tellInterrupts(f *frame, all []Interrupt) {
	for _, m := range []mode{modeUpdates, modeValues} {
		t.tell(m, f, string(m), func() any { return map[string]any{channelInterrupt: all} })
	}
}

// interrupt is what a frame waits for.
func (t *translator) interrupt(f *frame) agents.Interrupt {
	i := agents.Interrupt{
		ID: agents.InterruptID(t.Run, f.no, f.count, f.node), Run: t.Run, Frame: f.no, Agent: f.agent, Namespace: f.ns, Node: f.node,
	}
	for _, e := range f.waiting {
		i.Calls = append(i.Calls, agents.WaitingCall{
			Call: e.Call, Approval: e.Leave, Tool: e.Name, Input: e.Input, Reason: e.Content, Where: e.Where, Digest: e.Digest, Expires: e.Expires,
			People: e.People, Other: e.Other,
		})
	}
	return i
}

// resume tells that a run that waited goes on: its stream begins anew.
func (t *translator) resume() {
	t.paused = false
	t.also.turns(graphInterrupted, graphRunning)
	t.head()
	if f := t.frames[0]; f != nil {
		t.state(f)
	}
}

// interrupts are all that the run waits for.
func (t *translator) interrupts() []Interrupt {
	all := []Interrupt{}
	for _, no := range slices.Sorted(maps.Keys(t.frames)) {
		if f := t.frames[no]; len(f.waiting) > 0 {
			all = append(all, shownInterrupt(t.interrupt(f)))
		}
	}
	return all
}
