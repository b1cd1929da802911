// Package fakeopenai is a server for tests that speaks the OpenAI chat completions
// protocol on the wire: the requests it takes are checked as strictly as the real
// one checks them, and its answers have the real one's form, streamed or whole.
// What it answers is scripted, faults included, so that a client can be tried
// against everything that happens in operation without a model.
//
//	s := fakeopenai.Start(fakeopenai.Sequence(
//		fakeopenai.Turn{Calls: []fakeopenai.Call{{Name: "run_command", Arguments: `{"command":"df -h"}`}}},
//		fakeopenai.Turn{Text: []string{"The disk ", "is half full."}},
//	))
//	defer s.Close()
//	m, err := model.NewOpenAI(model.Config{BaseURL: s.BaseURL(), Model: "gpt-4o"})
//
// A Server is safe for concurrent use. Close ends answers that are being held back.
package fakeopenai

import (
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/svc-gateway/svc/agents/model/fake"
)

// Server is a running fake. Set the fields before the first request.
type Server struct {
	// Key, when set, is what clients must send as a Bearer token.
	Key string
	// RefuseStreamOptions answers 400 to stream_options, as older servers do.
	RefuseStreamOptions bool

	*fake.Server[Request]
	script Script
}

// Start runs a server on a free port of the loopback interface.
func Start(script Script) *Server {
	s := &Server{script: script}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.complete)
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		fake.WriteJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{map[string]any{"id": "fake", "object": "model", "owned_by": "svc"}}})
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, http.StatusNotFound, "", "Invalid URL ("+r.Method+" "+r.URL.Path+")", "")
	})
	s.Server = fake.Start[Request](mux)
	return s
}

// BaseURL is the address for a client, ending in /v1.
func (s *Server) BaseURL() string { return s.URL() + "/v1" }

func (s *Server) complete(w http.ResponseWriter, r *http.Request) {
	if s.Key != "" && r.Header.Get("Authorization") != "Bearer "+s.Key {
		// The real server quotes the key it was given, too.
		given := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		refuse(w, http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided: "+given+". You can find your API key at https://platform.openai.com/account/api-keys.", "")
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, 16<<20))
	if err != nil {
		return // the client went away
	}
	req, bad := check(r.Header, body)
	if bad == nil && s.RefuseStreamOptions && req.StreamOptions != nil {
		bad = &invalid{message: "Unrecognized request argument supplied: stream_options", param: "stream_options"}
	}
	if bad != nil {
		refuse(w, http.StatusBadRequest, bad.code, bad.message, bad.param)
		return
	}
	n := s.Accept(req)
	turn := s.script(n, req)
	switch {
	case turn.Drop:
		fake.Drop(w)
	case turn.Status != 0 && turn.Status != http.StatusOK:
		if turn.RetryAfter != "" {
			w.Header().Set("Retry-After", turn.RetryAfter)
		}
		if turn.Body != "" {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(turn.Status)
			_, _ = io.WriteString(w, turn.Body)
			return
		}
		code := map[int]string{429: "rate_limit_exceeded", 404: "model_not_found"}[turn.Status]
		refuse(w, turn.Status, code, "The server had an error processing your request ("+strconv.Itoa(turn.Status)+")", "")
	case !req.Stream || turn.Whole:
		fake.WriteJSON(w, http.StatusOK, turn.completion(req, n))
	default:
		s.stream(w, r, turn, req, n)
	}
}

// refuse answers in the protocol's error form.
func refuse(w http.ResponseWriter, status int, code, message, param string) {
	e := map[string]any{"message": message, "type": "invalid_request_error", "param": nil, "code": nil}
	if status >= 500 {
		e["type"] = "server_error"
	}
	if code != "" {
		e["code"] = code
	}
	if param != "" {
		e["param"] = param
	}
	fake.WriteJSON(w, status, map[string]any{"error": e})
}
