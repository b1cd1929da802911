package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/agents/eventlog"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/policy"
)

// delegation is the tool with which an agent hands a task to one of its sub-agents.
func delegation(to []string, described map[string]string) (boundTool, error) {
	var lines []string
	for _, name := range to {
		what, ok := described[name]
		if !ok {
			return boundTool{}, fmt.Errorf("delegates to %q, which does not exist", name)
		}
		lines = append(lines, name+": "+what)
	}
	parameters, err := json.Marshal(map[string]any{
		"type": "object",
		"properties": map[string]any{
			"agent": map[string]any{"type": "string", "enum": to},
			"task":  map[string]any{"type": "string", "minLength": 1, "description": "what to find out or do, complete in itself"},
		},
		"required":             []string{"agent", "task"},
		"additionalProperties": false,
	})
	if err != nil {
		return boundTool{}, fmt.Errorf("describing the tool %s: %w", Delegate, err)
	}
	return compileParameters(Tool{ToolDef: ToolDef{
		Name: Delegate, Action: policy.Use, Parameters: parameters,
		Description: "Hands a task to a sub-agent and returns its answer.\n" + strings.Join(lines, "\n"),
	}})
}

// above are the frames from one to the top-level agent's, the frame itself first.
func (r *Run) above(frame int) []int {
	chain := []int{frame}
	for ref := r.Frames[frame].Opener; ref != nil; ref = r.Frames[ref.Frame].Opener {
		chain = append(chain, ref.Frame)
	}
	return chain
}

// handover says why an agent may not hand a task to another one.
type handover struct {
	chain []string // agents that a task came down by, the one at work first
	deep  string   // why it may go no deeper; empty: it may
}

// handover looks at what a frame's agent may hand on.
func (d *driver) handover(frame int) handover {
	var h handover
	chain := d.run.above(frame)
	if most := d.rt.limits.Depth; most > 0 && len(chain) > most {
		h.deep = fmt.Sprintf("a task is handed down %d times at most (setting runtime.max_depth)", most)
	}
	for below, i := range chain {
		name := d.run.Frames[i].Agent
		h.chain = append(h.chain, name)
		if most := d.set.agents[name].Limits.Depth; most > 0 && below >= most && h.deep == "" {
			h.deep = fmt.Sprintf("a task of the agent %s is handed down %d times at most (limits.depth in its AGENT.md)", name, most)
		}
	}
	return h
}

// refuses is the reason, with a stable word, for which a task is not handed to an agent; empty: it may be.
// Agents that hand tasks to each other in a circle are refused when they are read. A run that waited may
// have been begun with others.
func (h handover) refuses(to string) string {
	switch {
	case h.deep != "":
		return "delegation_depth: " + h.deep + ": do it yourself, or answer with what you have"
	case slices.Contains(h.chain, to):
		return fmt.Sprintf("delegation_cycle: the agent %s is at work on the task that this one is part of: do it yourself, or answer with what you have", to)
	}
	return ""
}

// delegate opens a frame for the agent that an admitted call names.
func (d *driver) delegate(ref CallRef, v admitted) func() {
	to, _ := v.analysis.args["agent"].(string)
	task, _ := v.analysis.args["task"].(string)
	return func() {
		m := model.Message{ID: newID(), Role: model.RoleUser, Content: task, Findings: v.analysis.findings}
		d.run.opened(ref, to, m, v.intent, d.worked())
		d.log.Append(eventlog.Event{
			Type: eventlog.Opened, Agent: to, Frame: len(d.run.Frames) - 1, Call: v.intent.Call, Message: m.ID, Content: d.log.secrets.Redact(task),
		})
	}
}

// giveBack makes a sub-agent's answer, with the sources that the sub-agent had seen, the result of
// the call that asked for it. With a limit, it has none.
func (d *driver) giveBack(ctx context.Context, opener CallRef, in *intent, answer string, seen []string, limit *agentLimit) func() {
	var err error
	if limit != nil {
		err = limit
	}
	o := d.rt.gate.outcome(ctx, in, Result{Text: answer}, err)
	o.labels = append(o.labels, seen...)
	return d.ended(opener, Call{ToolCall: model.ToolCall{ID: in.Call, Name: in.Tool}}, o)
}
