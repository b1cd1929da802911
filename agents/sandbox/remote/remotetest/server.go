package remotetest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
)

// Server is a provider's API on this host.
type Server struct {
	URL   string
	close func()
}

// Close ends the server and the sandboxes of its fleet.
func (s *Server) Close() { s.close() }

// front answers requests that are refused before anybody looks at them.
func front(f *Fleet, next http.Handler, deny func(w http.ResponseWriter, r *http.Request, status int, message string)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := ""
		for _, part := range strings.Split(r.URL.Path, "/") {
			if strings.HasPrefix(part, "sb-") {
				id = part
			}
		}
		f.note(r.Method, r.URL.Path, id)
		faults := f.broken()
		switch {
		case r.Header.Get("Authorization") != "Bearer "+Key:
			deny(w, r, http.StatusUnauthorized, "Unauthorized: "+r.Header.Get("Authorization"))
		case faults.RedirectTo != "":
			http.Redirect(w, r, faults.RedirectTo, http.StatusTemporaryRedirect)
		case f.take(func(x *Faults) *int { return &x.Busy }):
			if faults.RetryAfter != "" {
				w.Header().Set("Retry-After", faults.RetryAfter)
			}
			deny(w, r, http.StatusTooManyRequests, "ThrottlerException: Too Many Requests")
		case f.take(func(x *Faults) *int { return &x.Fail }):
			deny(w, r, http.StatusInternalServerError, "Internal server error, key "+Key)
		case faults.Garbage:
			_, _ = w.Write([]byte("<html>not today</html>"))
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// cut ends the connection without an answer.
func cut() { panic(http.ErrAbortHandler) }

func serve(f *Fleet, h http.Handler) *Server {
	s := httptest.NewServer(h)
	return &Server{URL: s.URL, close: func() {
		f.Close() // so that no request waits for a program
		s.CloseClientConnections()
		s.Close()
	}}
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// fill writes zero bytes.
func fill(w http.ResponseWriter, n int64) {
	for b := make([]byte, 64<<10); n > 0; n -= int64(len(b)) {
		if _, err := w.Write(b); err != nil {
			return
		}
	}
}
