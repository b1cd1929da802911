package redact

import (
	"bytes"
	"encoding/json"

	"github.com/svc-gateway/svc/scanner/internal/text"
)

// lineField splits a line into the name of its field and the value.
func lineField(line []byte) (field, value []byte) {
	field, value, _ = bytes.Cut(line, []byte(":"))
	return field, bytes.TrimPrefix(value, []byte(" "))
}

// isData reports whether the line is one of data.
func isData(line []byte) bool {
	field, _ := lineField(line)
	return string(field) == "data"
}

// lineLength returns the number of bytes before the first line end.
func lineLength(p []byte) int {
	if n := bytes.IndexByte(p, '\n'); n >= 0 {
		p = p[:n]
	}
	if n := bytes.IndexByte(p, '\r'); n >= 0 {
		p = p[:n]
	}
	return len(p)
}

// cutLine cuts the first line off an event, with its line end.
func cutLine(event []byte) (line, end, rest []byte) {
	n := lineLength(event)
	if n == len(event) {
		return event, nil, nil
	}
	m := n + 1
	if event[n] == '\r' && m < len(event) && event[m] == '\n' {
		m++
	}
	return event[:n], event[n:m], event[m:]
}

// eventData returns the data of an event, its lines joined.
func eventData(event []byte) []byte {
	var data []byte
	lines := 0
	for len(event) > 0 {
		line, _, rest := cutLine(event)
		event = rest
		if !isData(line) {
			continue
		}
		_, value := lineField(line)
		if lines++; lines == 1 {
			data = value[:len(value):len(value)]
		} else {
			data = append(append(data, '\n'), value...)
		}
	}
	return data
}

// appendEvent appends the event with other data. The lines of the data take the places of the
// old ones; if there are more, they follow the last one.
func appendEvent(dst, event, data []byte) []byte {
	left := 0
	for rest := event; len(rest) > 0; {
		var line []byte
		if line, _, rest = cutLine(rest); isData(line) {
			left++
		}
	}
	more := true
	for len(event) > 0 {
		line, end, rest := cutLine(event)
		event = rest
		if !isData(line) {
			dst = append(append(dst, line...), end...)
			continue
		}
		left--
		_, value := lineField(line)
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
	response.incomplete response.done run.completed thread.run.completed`)
