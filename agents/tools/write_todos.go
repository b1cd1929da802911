package tools

import (
	"context"
	"fmt"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/todo"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/scanner"
	"github.com/svc-gateway/svc/scanner/inject"
)

// WriteTodos is the tool with which an agent writes its plan. A plan outlives the turn that wrote it, so
// that one with an injection of high confidence is refused: a model was probably told
// what to write by what it read.
func WriteTodos() agents.Tool {
	return agents.NewTool(agents.ToolDef{
		Name: todo.Tool,
		Description: "Writes the plan of a job that takes several steps, so that people see how far it is. Give all items each time. " +
			"Have one item in_progress while you work on it, and mark it completed as soon as it is. Do not plan what takes one or two steps.",
		Action: policy.Use, Parameters: todo.Parameters,
		Classify: func(args map[string]any) agents.Classification {
			c := agents.Classification{Action: policy.Use}
			items, err := todo.Parse(args["todos"])
			if err != nil {
				c.Refused = "invalid_arguments: " + err.Error()
			}
			for i, item := range items {
				for _, f := range inject.Scan(item.Content) {
					if f.Confidence == scanner.High {
						c.Refused = fmt.Sprintf("plan_injection: todos[%d].content reads like an injection (%s); a plan says what is to be done, in words of your own", i, f.Category)
					}
				}
			}
			return c
		},
	}, func(_ context.Context, _ agents.ToolContext, args map[string]any) (agents.Result, error) {
		items, err := todo.Parse(args["todos"])
		if err != nil {
			return agents.Result{}, err
		}
		return agents.Result{Text: todo.Count(items), Todos: &items}, nil
	})
}
