package fakeanthropic

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/svc-gateway/svc/agents/model/fake"
)

// Server is a running fake. Set the fields before the first request.
type Server struct {
	// Key, when set, is what clients must send as x-api-key.
	Key string

	*fake.Server[Request]
	script Script

	mu      sync.Mutex
	refused []string
}

// Start runs a server on a free port of the loopback interface.
func Start(script Script) *Server {
	s := &Server{script: script}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", s.answer)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { refuse(w, http.StatusNotFound, "Not Found") })
	s.Server = fake.Start[Request](mux)
	return s
}

// Refused returns why requests were refused so far.
func (s *Server) Refused() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.refused...)
}

// sign is the signature of a thought.
func (s *Server) sign(thought string) string {
	mac := hmac.New(sha256.New, []byte("the server's own key"))
	mac.Write([]byte(thought))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	if s.Key != "" && r.Header.Get("x-api-key") != s.Key {
		refuse(w, http.StatusUnauthorized, "invalid x-api-key")
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, 32<<20))
	if err != nil {
		return // the client went away
	}
	req, refused := s.check(r.Header, body)
	if refused != "" {
		s.mu.Lock()
		s.refused = append(s.refused, refused)
		s.mu.Unlock()
		refuse(w, http.StatusBadRequest, refused)
		return
	}
	n := s.Accept(req)
	t := s.script(n, req)
	switch {
	case t.Drop:
		fake.Drop(w)
	case t.Status != 0:
		if t.RetryAfter != "" {
			w.Header().Set("Retry-After", t.RetryAfter)
		}
		if t.Location != "" {
			w.Header().Set("Location", t.Location)
		}
		if t.Body != "" {
			w.WriteHeader(t.Status)
			_, _ = io.WriteString(w, t.Body)
			return
		}
		refuse(w, t.Status, t.Message)
	case t.Whole || !req.Stream:
		fake.WriteJSON(w, http.StatusOK, s.message(t, req, n))
	default:
		s.stream(w, r, t, s.events(t, req, n))
	}
}

func (s *Server) stream(w http.ResponseWriter, r *http.Request, t Turn, events []object) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	out := http.NewResponseController(w)
	for i, e := range events {
		if t.Fault != NoFault && i == t.After {
			s.fail(w, r, t)
			return
		}
		data, err := json.Marshal(e)
		if err != nil {
			return // the script has a raw part that is no JSON
		}
		if _, err := fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e["type"], data); err != nil || out.Flush() != nil {
			return
		}
	}
	if t.Fault != NoFault {
		s.fail(w, r, t)
	}
}

func (s *Server) fail(w http.ResponseWriter, r *http.Request, t Turn) {
	_ = http.NewResponseController(w).Flush()
	switch t.Fault {
	case Cut:
		fake.Drop(w)
	case Stall:
		select {
		case <-r.Context().Done():
		case <-s.Closed():
		}
	case Garbage:
		_, _ = io.WriteString(w, "event: content_block_delta\ndata: {nonsense\n\n")
	case Overload:
		_, _ = io.WriteString(w, "event: error\ndata: "+`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded at internal-host"},"request_id":"req_1"}`+"\n\n")
	case NoFault, End:
	}
}

// kinds are the types of errors by their status.
var kinds = map[int]string{
	400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
	413: "request_too_large", 429: "rate_limit_error", 500: "api_error", 529: "overloaded_error",
}

func refuse(w http.ResponseWriter, status int, message string) {
	kind := kinds[status]
	if kind == "" {
		kind = "api_error"
	}
	fake.WriteJSON(w, status, object{"type": "error", "error": object{"type": kind, "message": message}, "request_id": "req_1"})
}
