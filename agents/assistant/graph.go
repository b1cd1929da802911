package assistant

import (
	"slices"
	"strings"

	"github.com/svc-gateway/svc/agents"
)

// Nodes of every graph.
const (
	NodeStart = "__start__"
	NodeAgent = "agent" // the model takes a turn
	NodeTools = "tools" // the calls of a turn are made; a sub-agent is a graph within
	NodeEnd   = "__end__"
)

// Node is a step of a graph.
type Node struct {
	ID   string         `json:"id" required:"true"`
	Type string         `json:"type" required:"true" enum:"schema,runnable"`
	Data map[string]any `json:"data" required:"true"`
}

// Edge says what may follow a step.
type Edge struct {
	Source      string `json:"source" required:"true"`
	Target      string `json:"target" required:"true"`
	Conditional bool   `json:"conditional" required:"true"`
}

// Drawing is a graph as clients draw it.
type Drawing struct {
	Nodes []Node `json:"nodes" required:"true" nullable:"false"`
	Edges []Edge `json:"edges" required:"true" nullable:"false"`
}

// Draw is the graph of every agent: turns of the model, and calls of tools as long as it makes some.
func Draw() Drawing {
	end := func(id string) Node { return Node{id, "schema", map[string]any{"$schema": dialect}} }
	step := func(id string) Node {
		return Node{id, "runnable", map[string]any{"id": []string{"svc", id}, "name": id}}
	}
	return Drawing{
		Nodes: []Node{end(NodeStart), step(NodeAgent), step(NodeTools), end(NodeEnd)},
		Edges: []Edge{
			{NodeStart, NodeAgent, false}, {NodeAgent, NodeTools, true}, {NodeAgent, NodeEnd, true}, {NodeTools, NodeAgent, false},
		},
	}
}

const dialect = "https://json-schema.org/draft/2020-12/schema"

// Schemas are the forms of what goes into a graph and comes out of it.
type Schemas struct {
	Graph   string         `json:"graph_id" required:"true"`
	Input   map[string]any `json:"input_schema" required:"true"`
	Output  map[string]any `json:"output_schema" required:"true"`
	State   map[string]any `json:"state_schema" required:"true"`
	Config  map[string]any `json:"config_schema" required:"true"`
	Context map[string]any `json:"context_schema" required:"true"`
}

// SchemasOf are the forms of a graph.
func SchemasOf(graph string) Schemas {
	open := func(title string) map[string]any {
		return map[string]any{"$schema": dialect, "title": title, "type": "object", "additionalProperties": true, "properties": map[string]any{}}
	}
	state := func(title string) map[string]any {
		s := open(title)
		s["properties"] = map[string]any{"messages": map[string]any{"type": "array", "items": message()}}
		return s
	}
	input := state("Input")
	input["required"] = []string{"messages"}
	return Schemas{Graph: graph, Input: input, Output: state("Output"), State: state("State"), Config: open("Config"), Context: open("Context")}
}

// message is the form of a message in the state.
func message() map[string]any {
	text := map[string]any{"type": "string"}
	return map[string]any{
		"type": "object", "additionalProperties": true,
		"properties": map[string]any{
			"type":    map[string]any{"type": "string", "enum": []string{"human", "ai", "tool", "system"}},
			"role":    map[string]any{"type": "string", "enum": []string{"user", "assistant", "tool", "system"}},
			"id":      text,
			"content": map[string]any{"anyOf": []any{text, map[string]any{"type": "array", "items": map[string]any{"type": "object"}}}},
		},
		"required": []string{"content"},
	}
}

// Subgraphs are the graphs within a graph by their namespaces: the sub-agents that its agent may hand
// tasks to. All of them run within the node tools and have the same forms, so that they are one entry.
// With deep it has those within them too.
func (c *Catalog) Subgraphs(graph string, deep bool) map[string]Schemas {
	list := map[string]Schemas{}
	known := c.Graphs()
	var add func(namespace string, names, above []string)
	add = func(namespace string, names, above []string) {
		var inner, within []string
		for _, name := range names {
			i := slices.IndexFunc(known, func(g agents.Agent) bool { return g.Name == name })
			if i < 0 || slices.Contains(above, name) { // an agent that could call itself again and again
				continue
			}
			inner, within = append(inner, name), append(within, known[i].Delegates...)
		}
		if len(inner) == 0 {
			return
		}
		list[namespace] = SchemasOf(strings.Join(inner, ","))
		if deep {
			add(namespace+"|"+NodeTools, within, append(slices.Clone(above), inner...))
		}
	}
	i := slices.IndexFunc(known, func(g agents.Agent) bool { return g.Name == graph })
	if i >= 0 {
		add(NodeTools, known[i].Delegates, []string{graph})
	}
	return list
}
