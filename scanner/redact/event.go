package redact

import (
	"encoding/json"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// ends reports whether the event ends the stream of its kind: nothing that began before goes
// on after it.
func ends(name string, data []byte) bool {
	if endings.HasString(name) || string(data) == "[DONE]" {
		return true
	}
	var event struct {
		Type string `json:"type"`
	}
	return json.Unmarshal(data, &event) == nil && endings.HasString(event.Type)
}

var endings = text.Words(`done end error stop complete completed close message_stop response.completed response.failed
	response.incomplete response.done run.completed thread.run.completed approval_required`)
