package scan

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"

	"github.com/svc-gateway/svc/caddymodule/refusal"
	"github.com/svc-gateway/svc/internal/media"
	"github.com/svc-gateway/svc/internal/problem"
)

// The shapes of refusals.
const (
	speakProblem   = "problem"
	speakOpenAI    = "openai"
	speakAnthropic = "anthropic"
	speakOllama    = "ollama"
	speakJSONRPC   = "jsonrpc"
)

var speeches = []string{speakProblem, speakOpenAI, speakAnthropic, speakOllama, speakJSONRPC}

// speechOf is how clients are answered whose bodies have the shape.
func speechOf(shape string) string {
	switch shape {
	case shapeOpenAI:
		return speakOpenAI
	case shapeAnthropic:
		return speakAnthropic
	case shapeOllama:
		return speakOllama
	}
	return "" // JSON-RPC shows itself
}

// asker is who sent a request, as far as it matters to a refusal.
type asker struct {
	shape string // of refusals; "" is problem, unless the body shows that it is JSON-RPC
	body  []byte // of the request, if it may be that
	look  sync.Once
	id    json.RawMessage // of the request in JSON-RPC, once it is known
}

// learn is told the body of the request. Most requests are never refused, so it is looked at when this
// one is.
func (a *asker) learn(body []byte) {
	if a.shape == "" || a.shape == speakJSONRPC {
		a.body = body
	}
}

// speech returns the shape of refusals.
func (a *asker) speech() string {
	a.look.Do(func() {
		var call struct {
			Version string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
		}
		if json.Unmarshal(a.body, &call) != nil || call.Version != "2.0" {
			return
		}
		a.shape = speakJSONRPC
		if len(call.ID) > 0 && len(call.ID) <= 256 && call.ID[0] != '{' && call.ID[0] != '[' {
			a.id = call.ID
		}
	})
	return a.shape
}

// refuse answers with the problem, in the client's shape where handle_errors has no answer.
func (a *asker) refuse(w http.ResponseWriter, r *http.Request, p problem.Problem) {
	if p.Status == http.StatusServiceUnavailable {
		problem.RetryAfter(w.Header(), busyFor)
	}
	if speech := a.speech(); speech == "" || speech == speakProblem {
		refusal.Write(w, r, p)
		return
	}
	refusal.Or(w, r, p, func(w http.ResponseWriter) {
		h := w.Header()
		for _, name := range []string{"Content-Length", "Content-Encoding", "Etag", "Last-Modified"} {
			h.Del(name)
		}
		h.Set("Content-Type", "application/json")
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		if p.Status != http.StatusServiceUnavailable {
			h.Set("X-Should-Retry", "false") // the clients of OpenAI and Anthropic heed it
		}
		w.WriteHeader(p.Status)
		if r.Method != http.MethodHead {
			_, _ = w.Write(append(a.say(p), '\n')) // a client that is gone need not know
		}
	})
}

// say writes the problem in the client's shape.
func (a *asker) say(p problem.Problem) []byte {
	var v any
	switch a.speech() {
	case speakOpenAI:
		v = map[string]any{"error": map[string]any{"message": p.Detail, "type": openAIType(p.Status), "param": nil, "code": p.Code}}
	case speakAnthropic:
		v = map[string]any{"type": "error", "error": map[string]any{"type": anthropicType(p.Status), "message": p.Detail}}
	case speakOllama:
		v = map[string]any{"error": p.Detail}
	case speakJSONRPC:
		id := a.id
		if id == nil {
			id = json.RawMessage("null")
		}
		v = map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{
			"code": rpcCode(p.Status), "message": p.Detail, "data": map[string]any{"code": p.Code, "status": p.Status},
		}}
	default:
		// Without the member error a client of chat completions would take this for one more piece
		// of a stream and the answer for a whole one.
		v = map[string]any{"type": "error", "code": p.Code, "error": p.Code, "message": p.Detail}
	}
	text, err := json.Marshal(v)
	if err != nil { // strings and numbers: cannot happen
		return nil
	}
	return text
}

func openAIType(status int) string {
	if status >= http.StatusInternalServerError {
		return "server_error"
	}
	return "invalid_request_error"
}

func anthropicType(status int) string {
	switch {
	case status == http.StatusServiceUnavailable:
		return "overloaded_error"
	case status == http.StatusRequestEntityTooLarge:
		return "request_too_large"
	case status >= http.StatusInternalServerError:
		return "api_error"
	}
	return "invalid_request_error"
}

// rpcCode is a code of JSON-RPC 2.0, section 5.1: an invalid request, an internal error, or one that a
// server may define.
func rpcCode(status int) int {
	switch {
	case status == http.StatusServiceUnavailable:
		return -32000
	case status >= http.StatusInternalServerError:
		return -32603
	}
	return -32600
}

// farewell is the last record of a stream that is ended because of err.
func (r *records) farewell(err error) []byte {
	p := problemOf(err)
	p.Detail = strings.Replace(p.Detail, "The response was refused", "The stream was ended", 1)
	a := r.report.asker
	message := a.say(p)
	switch {
	case r.kind == media.JSONLines:
		return append(message, '\n')
	case r.kind == media.JSONSequence:
		return append(append([]byte(separator), message...), '\n')
	case a.speech() == speakOpenAI, a.speech() == speakJSONRPC: // whose clients know events without a name
		return append(append([]byte("data: "), message...), "\n\n"...)
	}
	return append(append([]byte("event: error\ndata: "), message...), "\n\n"...)
}
