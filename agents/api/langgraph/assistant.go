package langgraph

import (
	"context"

	"github.com/google/uuid"

	"github.com/svc-gateway/svc/agents"
)

// assistant is what a run is asked of: an agent, with what its assistant adds to every run.
type assistant struct {
	Agent    string
	ID       string
	Metadata map[string]any
}

// chatUI is how the public chat UI calls the graph when nobody tells it another name.
const chatUI = "agent"

// assistantID is the id of the assistant that every agent has. It follows from the name, as with the
// published server.
func assistantID(agent string) string {
	return uuid.NewSHA1(uuid.MustParse("6ba7b821-9dad-11d1-80b4-00c04fd430c8"), []byte(agent)).String()
}

// assistant finds an assistant by its id, or an agent by its name.
func (d *dialect) assistant(_ context.Context, named string) (assistant, error) {
	if named == chatUI {
		named = agents.Default
	}
	for _, a := range d.Runtime.Agents() {
		if named == a.Name || named == assistantID(a.Name) {
			return assistant{Agent: a.Name, ID: assistantID(a.Name)}, nil
		}
	}
	return assistant{}, agents.ErrUnknownAssistant
}
