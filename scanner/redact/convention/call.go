package convention

import (
	"bytes"
	"encoding/json"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// Call reports whether data is a request or an answer of JSON-RPC. Its texts are whole, and somebody
// waits for it before anything else is said: it must not wait for what follows. A notification, and
// one of several answers to one request as agents stream them, may hold pieces of texts.
func Call(data []byte) bool {
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
