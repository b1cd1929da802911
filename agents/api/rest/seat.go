package rest

import (
	"fmt"
	"net/http"
	"time"

	"github.com/svc-gateway/svc/internal/problem"
)

// streamRetry is when a client may ask again that has too many streams.
const streamRetry = 5 * time.Second

// lasts reports whether the answers of a route may stay open.
func (rte Route) lasts() bool {
	return rte.Lasting || rte.Success.Media == MediaSSE || rte.Success.Status == http.StatusSwitchingProtocols
}

// Seated lets a caller have only so many answers of routes open at once that stay so.
func (s *Server) Seated(rte Route) Route {
	if !rte.lasts() {
		return rte
	}
	serve := rte.Serve
	rte.Serve = func(w http.ResponseWriter, r *http.Request) {
		leave, ok := s.Options.Seats.Take(Caller(r).User, s.Options.Streams)
		if !ok {
			problem.RetryAfter(w.Header(), streamRetry)
			problem.Write(w, r, problem.Problem{
				Status: http.StatusTooManyRequests, Code: "too_many_streams",
				Detail: fmt.Sprintf("you have %d open streams, WebSockets and requests that wait for runs, as many as you may (setting limits.streams_per_user); close some", s.Options.Streams),
			})
			return
		}
		defer leave()
		serve(w, r)
	}
	return rte
}
