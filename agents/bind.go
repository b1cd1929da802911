package agents

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/policy"
)

// bind gives every agent its tools, and no others.
func bind(agents []Agent, tools []Tool) (map[string]boundAgent, error) {
	known := map[string]boundTool{}
	for _, t := range tools {
		bt, err := compileParameters(t)
		if err != nil {
			return nil, err
		}
		known[t.Name] = bt
	}
	described := map[string]string{}
	for _, a := range agents {
		described[a.Name] = a.Description
	}
	bound := map[string]boundAgent{}
	for _, a := range agents {
		b := boundAgent{Agent: a, tools: map[string]boundTool{}}
		for _, name := range a.Tools {
			t, ok := known[name]
			if !ok {
				return nil, fmt.Errorf("agent %s names the tool %q, which does not exist", a.Name, name)
			}
			b.add(t)
		}
		if len(a.Delegates) > 0 {
			t, err := delegation(a.Delegates, described)
			if err != nil {
				return nil, fmt.Errorf("agent %s: %w", a.Name, err)
			}
			b.add(t)
		}
		bound[a.Name] = b
	}
	return bound, nil
}

func (b *boundAgent) add(t boundTool) {
	b.tools[t.Name] = t
	b.specs = append(b.specs, model.ToolSpec{Name: t.Name, Description: t.Description, Parameters: t.Parameters})
}

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
		return boundTool{}, fmt.Errorf("describing the tool %s: %w", delegateTool, err)
	}
	return compileParameters(Tool{ToolDef: ToolDef{
		Name: delegateTool, Action: policy.Use, Parameters: parameters,
		Description: "Hands a task to a sub-agent and returns its answer.\n" + strings.Join(lines, "\n"),
	}})
}
