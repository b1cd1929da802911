package fakeopenai

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/svc-gateway/svc/agents/model/fake"
)

// created is the time that every answer claims to be from.
const created = 1735689600

// object is a JSON object of the wire.
type object = map[string]any

// deltas are the delta objects of a turn's chunks, in order.
func (t Turn) deltas(n int) []object {
	first := object{"role": "assistant", "content": "", "refusal": nil}
	if len(t.Text) == 0 && len(t.Calls) > 0 {
		first["content"] = nil
	}
	out := []object{first}
	for _, piece := range t.Text {
		out = append(out, object{"content": piece})
	}
	for i, c := range t.Calls {
		index := i
		if t.RepeatIndex {
			index = 0
		}
		head := object{"index": index, "id": t.id(n, i), "type": "function", "function": object{"name": c.Name, "arguments": ""}}
		if t.RepeatIndex || t.OneChunk || t.ObjectArguments {
			head["function"] = object{"name": c.Name, "arguments": t.arguments(c)}
			out = append(out, object{"tool_calls": []any{head}})
			continue
		}
		out = append(out, object{"tool_calls": []any{head}})
		for _, part := range fake.Split(c.Arguments, 7) {
			next := object{"index": index, "function": object{"arguments": part}}
			if t.RepeatNames {
				next = object{"index": index, "id": t.id(n, i), "type": "function", "function": object{"name": c.Name, "arguments": part}}
			}
			out = append(out, object{"tool_calls": []any{next}})
		}
	}
	return out
}

func (t Turn) id(n, i int) string {
	switch {
	case t.NoIDs:
		return ""
	case t.Calls[i].ID != "":
		return t.Calls[i].ID
	}
	return fmt.Sprintf("call_%d_%d", n, i)
}

func (t Turn) arguments(c Call) any {
	if t.ObjectArguments {
		return json.RawMessage(c.Arguments)
	}
	return c.Arguments
}

// usage counts words, which is all a fake can know.
func (t Turn) usage(r Request) object {
	in, out := 0, len(t.Text)
	for _, m := range r.Messages {
		in += 4 + len(strings.Fields(m.Content))
	}
	for _, c := range t.Calls {
		out += 8 + len(c.Arguments)/4
	}
	return object{"prompt_tokens": in, "completion_tokens": out, "total_tokens": in + out}
}

// completion is the answer as one document.
func (t Turn) completion(r Request, n int) object {
	message := object{"role": "assistant", "content": strings.Join(t.Text, ""), "refusal": nil}
	var calls []any
	for i, c := range t.Calls {
		calls = append(calls, object{"id": t.id(n, i), "type": "function", "function": object{"name": c.Name, "arguments": t.arguments(c)}})
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	return object{
		"id": fmt.Sprintf("chatcmpl-%d", n), "object": "chat.completion", "created": created, "model": r.Model,
		"choices": []any{object{"index": 0, "message": message, "logprobs": nil, "finish_reason": t.finish()}},
		"usage":   t.usage(r),
	}
}

func (s *Server) stream(w http.ResponseWriter, r *http.Request, t Turn, req Request, n int) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	usage := req.StreamOptions != nil && req.StreamOptions.IncludeUsage && !t.NoUsage
	chunk := func(choices []any) object {
		c := object{
			"id": fmt.Sprintf("chatcmpl-%d", n), "object": "chat.completion.chunk", "created": created, "model": req.Model,
			"service_tier": "default", "system_fingerprint": "fp_fake", "choices": choices,
		}
		if usage {
			c["usage"] = nil
		}
		return c
	}
	var chunks []object
	for _, d := range t.deltas(n) {
		chunks = append(chunks, chunk([]any{object{"index": 0, "delta": d, "logprobs": nil, "finish_reason": nil}}))
	}
	if !t.NoFinish {
		chunks = append(chunks, chunk([]any{object{"index": 0, "delta": object{}, "logprobs": nil, "finish_reason": t.finish()}}))
	}
	if usage {
		last := chunk([]any{})
		last["usage"] = t.usage(req)
		chunks = append(chunks, last)
	}
	out := http.NewResponseController(w)
	for i, c := range chunks {
		if t.Fault != NoFault && i == t.After {
			s.fail(w, r, t)
			return
		}
		if !s.pace(r, t) {
			return
		}
		data, err := json.Marshal(c)
		if err != nil {
			data = []byte(err.Error()) // ObjectArguments with broken JSON: the script's fault, visible on the wire
		}
		if _, err := fmt.Fprintf(w, "data: %s\n\n", data); err != nil || out.Flush() != nil {
			return
		}
	}
	if t.Fault != NoFault {
		s.fail(w, r, t)
		return
	}
	if !t.NoDone {
		_, _ = io.WriteString(w, "data: [DONE]\n\n")
	}
}

// pace waits as the turn asks and reports whether the client is still there.
func (s *Server) pace(r *http.Request, t Turn) bool {
	if t.Hold != nil {
		select {
		case <-t.Hold:
		case <-r.Context().Done():
			return false
		case <-s.Closed():
			return false
		}
	}
	if t.Delay > 0 {
		timer := time.NewTimer(t.Delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
			return false
		case <-s.Closed():
			return false
		}
	}
	return true
}

func (s *Server) fail(w http.ResponseWriter, r *http.Request, t Turn) {
	out := http.NewResponseController(w)
	_ = out.Flush() // headers, in case the fault comes before the first chunk
	switch t.Fault {
	case Cut:
		fake.Drop(w)
	case Stall:
		select {
		case <-r.Context().Done():
		case <-s.Closed():
		}
	case Garbage:
		_, _ = io.WriteString(w, t.Raw)
	case Report:
		_, _ = io.WriteString(w, `data: {"error":{"message":"CUDA out of memory on `+r.Host+`","type":"server_error","code":500}}`+"\n\n")
	case NoFault, End:
	}
}
