package convention

import (
	"bytes"
	"encoding/json"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// Call reports whether an event is a request or an answer of JSON-RPC, or tells where to send them as
// the older transport of MCP does. Its texts are whole, and somebody waits for it before anything else
// is said: it must not wait for what follows. A notification, and one of several answers to one request
// as agents stream them, may hold pieces of texts.
func Call(name string, data []byte) bool {
	if name == "endpoint" {
		return true
	}
	if len(data) == 0 || data[0] != '{' || !bytes.Contains(data, []byte(`"jsonrpc"`)) {
		return false
	}
	var message struct {
		Version string          `json:"jsonrpc"`
		Method  *string         `json:"method"`
		ID      json.RawMessage `json:"id"`
		Result  struct {
			Kind     string          `json:"kind"`
			Artifact json.RawMessage `json:"artifact"`
		} `json:"result"`
	}
	if json.Unmarshal(data, &message) != nil && message.Version == "" || message.ID == nil {
		return false
	}
	return message.Method != nil || message.Result.Artifact == nil && !updates.HasString(message.Result.Kind)
}

// updates are the kinds of answers of which there may be several (A2A).
var updates = text.Words(`artifact-update status-update`)
