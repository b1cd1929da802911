package tools

import "github.com/svc-gateway/svc/agents"

// At is a tool whose calls are said to run at a place, for who is asked to approve them. Without one it
// is the tool itself.
func At(t agents.Tool, place string) agents.Tool {
	if place == "" {
		return t
	}
	was := t.ToolDef
	t.Classify = func(args map[string]any) agents.Classification {
		c := was.Class(args)
		c.Where = place
		return c
	}
	return t
}
