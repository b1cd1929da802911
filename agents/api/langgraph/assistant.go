package langgraph

import (
	"context"
	"maps"

	"github.com/svc-gateway/svc/agents"
	kept "github.com/svc-gateway/svc/agents/assistant"
	"github.com/svc-gateway/svc/policy"
)

// assistant is what a run is asked of: an agent, with what its assistant adds to every run.
type assistant struct {
	Agent string
	ID    string
	kept  kept.Assistant
}

// chatUI is how the public chat UI calls the graph when nobody tells it another name.
const chatUI = "agent"

// assistantOf is the id of the assistant that a run was asked of.
func assistantOf(run agents.RunInfo) string {
	if id, ok := run.Metadata["assistant_id"].(string); ok {
		return id
	}
	return kept.ID(run.Assistant)
}

// assistant finds an assistant that the principal of a context sees by its id, or an agent's by the
// agent's name.
func (d *dialect) assistant(ctx context.Context, named string) (assistant, error) {
	p, _ := policy.PrincipalFrom(ctx)
	a, err := d.Options.Assistants.Get(ctx, p, graphNamed(named))
	if err != nil {
		return assistant{}, keepFault(err)
	}
	return assistant{Agent: a.Graph, ID: a.ID, kept: a}, nil
}

// graphNamed is the id of an assistant or the name of an agent by what a client calls it.
func graphNamed(named string) string {
	if named == chatUI || named == kept.ID(chatUI) {
		return agents.Default
	}
	return named
}

// under fills in what an assistant adds to every run, where the request says nothing. What a run was
// asked of stands in its metadata, whatever the request says there.
func (a assistant) under(b *RunBody) {
	if len(a.kept.Config) > 0 {
		own := Config{}
		if b.Config != nil {
			own = *b.Config
		}
		if tags, ok := a.kept.Config["tags"].([]any); ok && own.Tags == nil {
			for _, tag := range tags {
				if text, ok := tag.(string); ok {
					own.Tags = append(own.Tags, text)
				}
			}
		}
		if limit, ok := a.kept.Config["recursion_limit"].(float64); ok && own.RecursionLimit == 0 {
			own.RecursionLimit = int(limit)
		}
		whole, _ := a.kept.Under(map[string]any{"configurable": own.Configurable}, nil)
		own.Configurable, _ = whole["configurable"].(map[string]any)
		b.Config = &own
	}
	if len(a.kept.Context) > 0 {
		_, b.Context = a.kept.Under(nil, b.Context)
	}
	metadata := maps.Clone(a.kept.Metadata)
	if metadata == nil {
		metadata = map[string]any{}
	}
	maps.Copy(metadata, b.Metadata)
	metadata["graph_id"], metadata["assistant_id"] = a.Agent, a.ID
	b.Metadata = metadata
}
