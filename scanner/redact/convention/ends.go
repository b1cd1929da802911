package convention

import (
	"encoding/json"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// Ends reports whether an event ends the stream of its kind: nothing that began before goes
// on after it.
func Ends(name string, data []byte) bool {
	if Endings.HasString(name) || string(data) == "[DONE]" {
		return true
	}
	var event struct {
		Type   string `json:"type"`
		Params struct {
			Namespace []string `json:"namespace"`
			Data      struct {
				Event string `json:"event"`
			} `json:"data"`
		} `json:"params"`
	}
	if json.Unmarshal(data, &event) != nil {
		return false
	}
	graph := name == "lifecycle" && len(event.Params.Namespace) == 0 && stands.HasString(event.Params.Data.Event)
	return graph || Endings.HasString(event.Type)
}

// stands are the words for a graph as a whole that does nothing more, or waits for somebody.
var stands = text.Words(`completed failed interrupted`)

// Endings are the names and types of such events.
var Endings = text.Words(`done end error stop complete completed close message_stop response.completed response.failed
	response.incomplete response.done run.completed thread.run.completed approval_required input.requested`)
