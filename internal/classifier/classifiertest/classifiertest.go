// Package classifiertest has a server that judges texts as a classifier of an operator's own does, in both
// shapes, and that fails in every way that such servers fail in.
//
//	srv := classifiertest.New()
//	defer srv.Close()
//	srv.Fail(classifiertest.Garbage)
//
// It takes a text for an attack that has the word quartz in it, with the score 0.9, and one with feldspar with
// the score 0.3.
//
// A Server is safe for concurrent use.
package classifiertest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// Fault is a way to fail.
type Fault string

// The faults.
const (
	None       Fault = ""
	Slow       Fault = "no answer until the caller gives up"
	Broken     Fault = "500 with a page of HTML"
	TooMany    Fault = "429 with Retry-After"
	Garbage    Fault = "bytes that are no JSON"
	WrongTypes Fault = "JSON with other types"
	Other      Fault = "JSON of something else"
	Twice      Fault = "JSON with a name that comes twice"
	Closes     Fault = "the connection is closed in the middle of the answer"
	Resets     Fault = "the connection is closed before the answer"
	Huge       Fault = "an answer without an end"
	Redirect   Fault = "307 to the same server"
	BadScore   Fault = "a score of 7"
)

// Faults are all of them, TooMany, after which a server is left alone, last.
var Faults = []Fault{Slow, Broken, Garbage, WrongTypes, Other, Twice, Closes, Resets, Huge, Redirect, BadScore, TooMany}

// Request is what the server was asked.
type Request struct {
	Path, Authorization, Input, Model string
}

// Server is a classifier. Make it with [New].
type Server struct {
	*httptest.Server
	mu    sync.Mutex
	fault Fault
	asked []Request
	leave chan struct{}
}

// New starts a server. It answers at any path, with the shape of OpenAI at /v1/moderations.
func New() *Server {
	s := Unstarted()
	s.Start()
	return s
}

// Unstarted returns a server that is still to be started, with TLS for instance.
func Unstarted() *Server {
	s := &Server{leave: make(chan struct{})}
	s.Server = httptest.NewUnstartedServer(s)
	return s
}

// Close stops the server. Calls that hang end.
func (s *Server) Close() {
	close(s.leave)
	s.Server.Close()
}

// Fail makes all further answers fail so.
func (s *Server) Fail(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

// Asked returns the requests that came, and forgets them.
func (s *Server) Asked() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.asked
	s.asked = nil
	return asked
}

// ServeHTTP answers one call.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Input json.RawMessage `json:"input"`
		Model string          `json:"model"`
	}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	moderation := r.URL.Path == "/v1/moderations"
	var input string
	if moderation {
		var all []string
		if json.Unmarshal(q.Input, &all) != nil || len(all) != 1 {
			http.Error(w, "input: want a list of one text", http.StatusBadRequest)
			return
		}
		input = all[0]
	} else if json.Unmarshal(q.Input, &input) != nil {
		http.Error(w, "input: want a text", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.asked = append(s.asked, Request{Path: r.URL.Path, Authorization: r.Header.Get("Authorization"), Input: input, Model: q.Model})
	fault := s.fault
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if fault != None {
		s.fail(w, r, fault)
		return
	}
	answer(w, input, moderation)
}

func answer(w io.Writer, input string, moderation bool) {
	score := 0.01
	switch {
	case strings.Contains(input, "quartz"):
		score = 0.9
	case strings.Contains(input, "feldspar"):
		score = 0.3
	}
	if !moderation {
		fmt.Fprintf(w, `{"findings": [{"category": "role_hijacking", "score": %g}]}`, score)
		return
	}
	fmt.Fprintf(w, `{"id": "modr-1", "model": "guard", "results": [{"flagged": %t, "categories": {"illicit": %[1]t, "violence": false}, "category_scores": {"illicit": %g, "violence": 0.001}}]}`, score > 0.2, score)
}

func (s *Server) fail(w http.ResponseWriter, r *http.Request, f Fault) {
	switch f {
	case Slow:
		select {
		case <-r.Context().Done():
		case <-s.leave:
		}
	case Broken:
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusInternalServerError)
		say(w, "<html>CUDA out of memory</html>")
	case TooMany:
		w.Header().Set("Retry-After", "60")
		w.WriteHeader(http.StatusTooManyRequests)
	case Garbage:
		say(w, "\x00\xff ok")
	case WrongTypes:
		say(w, `{"score": "high", "findings": {}, "results": [{"flagged": "no"}]}`)
	case Other:
		say(w, `{"object": "list", "data": [], "results": []}`)
	case Twice:
		say(w, `{"score": 0, "score": 1, "results": [{"flagged": false, "flagged": true}]}`)
	case Closes:
		w.Header().Set("Content-Length", "1000")
		say(w, `{"findings": [`)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case Resets:
		panic(http.ErrAbortHandler)
	case Huge:
		say(w, `{"findings": [`)
		for range 1 << 20 {
			if _, err := io.WriteString(w, `{"category": "violence", "score": 0.1},`); err != nil {
				return
			}
		}
	case Redirect:
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	case BadScore:
		say(w, `{"score": 7, "results": [{"flagged": false, "categories": {"violence": false}, "category_scores": {"violence": 7}}]}`)
	case None:
	}
}

// say answers. A caller that is gone need not know.
func say(w io.Writer, text string) { _, _ = io.WriteString(w, text) }
