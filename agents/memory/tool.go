package memory

import (
	"context"
	"errors"
	"fmt"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/own"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/policy"
)

// ForgetTool is the name of the tool with which an agent forgets.
const ForgetTool = "forget_memory"

// Tool is the tool with which an agent forgets what its user wants to be forgotten: memories of that user by
// their ids, also for an admin. Without a keeper it describes calls and nothing else.
func Tool(k *Keeper) agents.Tool {
	return agents.NewTool(agents.ToolDef{
		Name:        ForgetTool,
		Description: "Removes notes from the memory of earlier conversations for good. Call it only when the user asks to forget something, with the ids of the notes that are meant.",
		Parameters: []byte(`{"type":"object","properties":{"ids":{"type":"array","minItems":1,"maxItems":50,"items":{"type":"string","pattern":"^mem_[0-9a-f]{32}$"},` +
			`"description":"ids of notes, as they stand in them"}},"required":["ids"],"additionalProperties":false}`),
		Action: policy.Mutate,
	}, func(ctx context.Context, tc agents.ToolContext, args map[string]any) (agents.Result, error) {
		list, _ := args["ids"].([]any) // the schema was held to
		ids := make([]string, 0, len(list))
		for _, id := range list {
			if id, ok := id.(string); ok {
				ids = append(ids, id)
			}
		}
		e := own.Event(tc.Principal, audit.MemoryForgotten)
		e.Run, e.Thread, e.Agent, e.Call = tc.Run, tc.Thread, tc.Agent, tc.Call
		n, err := k.forget(ctx, e, own.Of(tc.Principal), ids)
		switch {
		case err != nil:
			return agents.Result{}, err
		case n == 0:
			return agents.Result{}, errors.New("the user has no notes with these ids")
		}
		return agents.Result{Text: fmt.Sprintf("Forgot %d of %d notes.", n, len(ids))}, nil
	})
}
