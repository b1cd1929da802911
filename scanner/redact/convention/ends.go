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
		Type string `json:"type"`
	}
	return json.Unmarshal(data, &event) == nil && Endings.HasString(event.Type)
}

// Endings are the names and types of such events.
var Endings = text.Words(`done end error stop complete completed close message_stop response.completed response.failed
	response.incomplete response.done run.completed thread.run.completed approval_required`)
