package fakeanthropic

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/svc-gateway/svc/agents/model/fake"
)

// object is a JSON object of the wire.
type object = map[string]any

// events are the events of a turn's stream, in order.
func (s *Server) events(t Turn, r Request, n int) []object {
	if t.Events != nil {
		var all []object
		for _, raw := range t.Events {
			var e object
			if json.Unmarshal(raw, &e) != nil {
				e = object{"type": "broken_script"}
			}
			all = append(all, e)
		}
		return all
	}
	all := []object{{"type": "message_start", "message": object{
		"id": fmt.Sprintf("msg_%d", n), "type": "message", "role": "assistant", "model": r.Model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": t.usage(r, 1),
	}}, {"type": "ping"}}
	index := 0
	block := func(start object, deltas ...object) {
		all = append(all, object{"type": "content_block_start", "index": index, "content_block": start})
		for _, d := range deltas {
			all = append(all, object{"type": "content_block_delta", "index": index, "delta": d})
		}
		all = append(all, object{"type": "content_block_stop", "index": index})
		index++
	}
	if t.Thinking != "" {
		var deltas []object
		for _, piece := range fake.Split(t.Thinking, 9) {
			deltas = append(deltas, object{"type": "thinking_delta", "thinking": piece})
		}
		block(object{"type": "thinking", "thinking": "", "signature": ""}, append(deltas, object{"type": "signature_delta", "signature": s.sign(t.Thinking)})...)
	}
	if t.Redacted {
		block(object{"type": "redacted_thinking", "data": s.sign("") + "sealed"})
	}
	if len(t.Text) > 0 {
		var deltas []object
		for _, piece := range t.Text {
			deltas = append(deltas, object{"type": "text_delta", "text": piece})
		}
		block(object{"type": "text", "text": ""}, deltas...)
	}
	for i, c := range t.Calls {
		deltas := []object{{"type": "input_json_delta", "partial_json": ""}}
		for _, piece := range fake.Split(c.Input, 7) {
			deltas = append(deltas, object{"type": "input_json_delta", "partial_json": piece})
		}
		block(object{"type": "tool_use", "id": c.id(n, i), "name": c.Name, "input": object{}}, deltas...)
	}
	return append(all,
		object{"type": "message_delta", "delta": object{"stop_reason": t.stop(), "stop_sequence": nil}, "usage": object{"output_tokens": t.output()}},
		object{"type": "message_stop"})
}

// message is the answer as one document.
func (s *Server) message(t Turn, r Request, n int) object {
	content := []any{}
	if t.Thinking != "" {
		content = append(content, object{"type": "thinking", "thinking": t.Thinking, "signature": s.sign(t.Thinking)})
	}
	if t.Redacted {
		content = append(content, object{"type": "redacted_thinking", "data": s.sign("") + "sealed"})
	}
	if len(t.Text) > 0 {
		content = append(content, object{"type": "text", "text": strings.Join(t.Text, "")})
	}
	for i, c := range t.Calls {
		content = append(content, object{"type": "tool_use", "id": c.id(n, i), "name": c.Name, "input": json.RawMessage(c.Input)})
	}
	return object{
		"id": fmt.Sprintf("msg_%d", n), "type": "message", "role": "assistant", "model": r.Model, "content": content,
		"stop_reason": t.stop(), "stop_sequence": nil, "usage": t.usage(r, t.output()),
	}
}

func (c Call) id(n, i int) string {
	if c.ID != "" {
		return c.ID
	}
	return fmt.Sprintf("toolu_%d_%d", n, i)
}

// usage counts messages and pieces, which is all a fake can know.
func (t Turn) usage(r Request, output int) object {
	return object{"input_tokens": 10 * len(r.Messages), "cache_creation_input_tokens": t.CacheWritten, "cache_read_input_tokens": t.CacheRead, "output_tokens": output}
}

func (t Turn) output() int { return len(t.Text) + 8*len(t.Calls) + len(t.Thinking)/4 + 1 }
