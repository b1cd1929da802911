package redact

import (
	"bytes"
	"encoding/json"

	"github.com/svc-gateway/svc/scanner/internal/text"
	"github.com/svc-gateway/svc/scanner/sse"
)

// appendEvent appends the event with other data. The lines of the data take the places of the
// old ones; if there are more, they follow the last one.
func appendEvent(dst, event, data []byte) []byte {
	left := 0
	for rest := event; len(rest) > 0; {
		var line []byte
		if line, _, rest = sse.Line(rest); sse.IsData(line) {
			left++
		}
	}
	more := true
	for len(event) > 0 {
		line, end, rest := sse.Line(event)
		event = rest
		if !sse.IsData(line) {
			dst = append(append(dst, line...), end...)
			continue
		}
		left--
		_, value := sse.Field(line)
		prefix := line[:len(line)-len(value)]
		for first := true; first || left == 0 && more; first = false {
			if !first && len(end) == 0 {
				dst = append(dst, '\n')
			}
			var text []byte
			text, data, more = bytes.Cut(data, []byte("\n"))
			dst = append(dst, prefix...)
			if len(text) > 0 && len(prefix) == len("data") {
				dst = append(dst, ':')
			}
			dst = append(append(dst, text...), end...)
		}
	}
	return dst
}

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
