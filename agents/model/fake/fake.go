// Package fake is what the fakes of model servers have in common: they keep the requests that they accept, answer
// from a script, and hold answers back until they are closed. What they speak is theirs: see fakeopenai and
// fakeanthropic.
//
//	s := fake.Start[Request](handler)
//	defer s.Close()
//	n := s.Accept(request) // its number, for the script
//
// A Server is safe for concurrent use.
package fake

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
)

// Script decides what the n-th accepted request (from 0) is answered. It may be called from several goroutines
// at once.
type Script[R, T any] func(n int, r R) T

// Sequence answers with the turns in order; the last one repeats.
func Sequence[R, T any](turns ...T) Script[R, T] {
	return func(n int, _ R) T { return turns[min(n, len(turns)-1)] }
}

// Server is a running fake, with requests of the type R. Make it with [Start].
type Server[R any] struct {
	http   *httptest.Server
	closed chan struct{}
	once   sync.Once

	mu       sync.Mutex
	requests []R
}

// Start runs a server on a free port of the loopback interface.
func Start[R any](h http.Handler) *Server[R] {
	return &Server[R]{http: httptest.NewServer(h), closed: make(chan struct{})}
}

// URL is the address for a client, without a path.
func (s *Server[R]) URL() string { return s.http.URL }

// Accept keeps a request, and returns how many there were before.
func (s *Server[R]) Accept(r R) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	return len(s.requests) - 1
}

// Requests returns what was accepted so far, oldest first.
func (s *Server[R]) Requests() []R {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Closed is closed with the server.
func (s *Server[R]) Closed() <-chan struct{} { return s.closed }

// Close releases every held answer and stops the server.
func (s *Server[R]) Close() {
	s.once.Do(func() { close(s.closed) })
	s.http.CloseClientConnections()
	s.http.Close()
}

// WriteJSON answers with a document. One that cannot be encoded, for a script has a part that is no JSON, is a
// broken server's.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		status, data = http.StatusInternalServerError, []byte("{}")
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(data)
}

// Drop closes the connection without an answer or in the middle of one.
func Drop(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = conn.Close()
	}
}

// Split cuts a string into parts of at most n bytes, as tokens would.
func Split(s string, n int) []string {
	var parts []string
	for len(s) > n {
		parts, s = append(parts, s[:n]), s[n:]
	}
	return append(parts, s)
}
