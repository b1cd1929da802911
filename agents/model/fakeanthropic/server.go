package fakeanthropic

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
)

// Server is a running fake. Set the fields before the first request.
type Server struct {
	// Key, when set, is what clients must send as x-api-key.
	Key string

	script Script
	http   *httptest.Server
	closed chan struct{}
	once   sync.Once

	mu       sync.Mutex
	requests []Request
	refused  []string
}

// Start runs a server on a free port of the loopback interface.
func Start(script Script) *Server {
	s := &Server{script: script, closed: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", s.answer)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { refuse(w, http.StatusNotFound, "Not Found") })
	s.http = httptest.NewServer(mux)
	return s
}

// URL is the address for a client.
func (s *Server) URL() string { return s.http.URL }

// Requests returns what was accepted so far, oldest first.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Refused returns why requests were refused so far.
func (s *Server) Refused() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.refused...)
}

// Close releases every held answer and stops the server.
func (s *Server) Close() {
	s.once.Do(func() { close(s.closed) })
	s.http.CloseClientConnections()
	s.http.Close()
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
	s.mu.Lock()
	n := len(s.requests)
	if refused != "" {
		s.refused = append(s.refused, refused)
	} else {
		s.requests = append(s.requests, req)
	}
	s.mu.Unlock()
	if refused != "" {
		refuse(w, http.StatusBadRequest, refused)
		return
	}
	t := s.script(n, req)
	switch {
	case t.Drop:
		drop(w)
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
		writeJSON(w, http.StatusOK, s.message(t, req, n))
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
		drop(w)
	case Stall:
		select {
		case <-r.Context().Done():
		case <-s.closed:
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
	writeJSON(w, status, object{"type": "error", "error": object{"type": kind, "message": message}, "request_id": "req_1"})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		status, data = http.StatusInternalServerError, []byte("{}")
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(data)
}

// drop closes the connection.
func drop(w http.ResponseWriter) {
	if c, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = c.Close()
	}
}
