package remotetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
)

// Server is an agent server with one thread's worth of state, which a test sets.
type Server struct {
	*httptest.Server
	mu         sync.Mutex
	before     func(w http.ResponseWriter, r *http.Request, next http.Handler)
	seen       []string // method and path of each request
	bodies     []map[string]json.RawMessage
	run        string
	status     string
	values     string // JSON
	interrupts string // JSON
	changed    chan struct{}
	cursors    []string // Last-Event-ID of each join
}

// Key is the key that the server wants.
const Key = "key-of-the-remote-agent-0123456789"

// NewServer starts a server with the assistant "agent".
func NewServer(t *testing.T) *Server {
	s := &Server{status: "running", values: `{}`, interrupts: `[]`, changed: make(chan struct{})}
	mux := http.NewServeMux()
	write := func(w http.ResponseWriter, format string, args ...any) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, format, args...)
	}
	mux.HandleFunc("GET /assistants/agent", func(w http.ResponseWriter, _ *http.Request) { write(w, `{"assistant_id":"a1"}`) })
	mux.HandleFunc("POST /threads", func(w http.ResponseWriter, _ *http.Request) {
		write(w, `{"thread_id":%s}`, s.last()["thread_id"])
	})
	mux.HandleFunc("POST /threads/{thread}/runs", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.run, s.status, s.interrupts = uuid.NewString(), "running", `[]`
		s.mu.Unlock()
		write(w, "%s", s.shown(r))
	})
	mux.HandleFunc("GET /threads/{thread}/runs", func(w http.ResponseWriter, r *http.Request) {
		if doc := s.shown(r); doc != "" {
			write(w, "[%s]", doc)
			return
		}
		write(w, "[]")
	})
	mux.HandleFunc("GET /threads/{thread}/runs/{run}", func(w http.ResponseWriter, r *http.Request) { write(w, "%s", s.shown(r)) })
	mux.HandleFunc("POST /threads/{thread}/runs/{run}/cancel", func(w http.ResponseWriter, _ *http.Request) {
		s.Set("interrupted", `{}`, `[]`)
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("GET /threads/{thread}/state", func(w http.ResponseWriter, _ *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		write(w, `{"values":%s,"tasks":[{"interrupts":%s}]}`, s.values, s.interrupts)
	})
	mux.HandleFunc("GET /threads/{thread}/runs/{run}/stream", s.stream)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.seen = append(s.seen, r.Method+" "+r.URL.Path)
		if r.Method == http.MethodPost {
			var body map[string]json.RawMessage
			_ = json.NewDecoder(r.Body).Decode(&body)
			s.bodies = append(s.bodies, body)
		}
		before := s.before
		s.mu.Unlock()
		switch {
		case r.Header.Get("X-Api-Key") != Key:
			w.WriteHeader(http.StatusForbidden)
		case before != nil:
			before(w, r, mux)
		default:
			mux.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

// Before has requests answered by f, which may pass them on; nil: they are answered as usual.
func (s *Server) Before(f func(w http.ResponseWriter, r *http.Request, next http.Handler)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = f
}

// stream tells of one step, and ends when the run does, or at once when it has ended.
func (s *Server) stream(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.cursors = append(s.cursors, r.Header.Get("Last-Event-ID"))
	n := len(s.cursors)
	changed, over := s.changed, s.status != "running"
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "event: updates\ndata: {}\nid: %d\n\n", n)
	_ = http.NewResponseController(w).Flush()
	if over {
		return
	}
	select {
	case <-changed:
	case <-r.Context().Done():
	}
}

// Set says how the run stands from now on; its streams end.
func (s *Server) Set(status, values, interrupts string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status, s.values, s.interrupts = status, values, interrupts
	close(s.changed)
	s.changed = make(chan struct{})
}

// Break ends the streams, as a network does.
func (s *Server) Break() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.changed)
	s.changed = make(chan struct{})
}

// Cursors are the ids that streams were joined after.
func (s *Server) Cursors() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.cursors)
}

// Resumes are the answers that were sent.
func (s *Server) Resumes() (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.bodies {
		if c := b["command"]; c != nil {
			all = append(all, string(c))
		}
	}
	return all
}

// Count is how many requests there were whose method and path begin so.
func (s *Server) Count(prefix string) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, line := range s.seen {
		if strings.HasPrefix(line, prefix) {
			n++
		}
	}
	return n
}

func (s *Server) last() map[string]json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bodies[len(s.bodies)-1]
}

// shown is the run; empty: there is none.
func (s *Server) shown(r *http.Request) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run == "" {
		return ""
	}
	return fmt.Sprintf(`{"run_id":%q,"thread_id":%q,"status":%q}`, s.run, r.PathValue("thread"), s.status)
}
