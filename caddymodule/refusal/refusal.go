// Package refusal answers requests that a stage refuses: as the handle_errors of the site says, or else
// with the problem (RFC 9457) itself.
//
//	refusal.Write(w, r, problem.Problem{Status: http.StatusForbidden, Code: "role_insufficient", Detail: "…"})
//
// # How
//
// The routes of handle_errors are run in the place of the stage, so that what the stages before this one
// add to an answer, and account for, stays the same. What no route answers with more than a status is
// answered with the problem. Beside
// Caddy's placeholders {http.error.*} the routes have {http.svc.refusal.code} and
// {http.svc.refusal.detail}.
//
// Its functions are safe for concurrent use by different requests.
package refusal

import (
	"io"
	"net/http"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/internal/problem"
)

// Write answers a request that is refused.
func Write(w http.ResponseWriter, r *http.Request, p problem.Problem) {
	Or(w, r, p, func(w http.ResponseWriter) { problem.Write(w, r, p) })
}

// Or is Write with another answer where handle_errors has none.
func Or(w http.ResponseWriter, r *http.Request, p problem.Problem, otherwise func(http.ResponseWriter)) {
	server, ok := r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	if !ok || server.Errors == nil || r.Context().Value(caddyhttp.ErrorCtxKey) != nil { // within handle_errors
		otherwise(w)
		return
	}
	if repl, ok := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer); ok {
		repl.Set("http.svc.refusal.code", p.Code)
		repl.Set("http.svc.refusal.detail", p.Detail)
	}
	out := &writer{ResponseWriterWrapper: &caddyhttp.ResponseWriterWrapper{ResponseWriter: w}, status: p.Status}
	restore(r)
	r = server.Errors.WithError(r, caddyhttp.HandlerError{Err: p, StatusCode: p.Status})
	if err := server.Errors.Routes.Compile(noAnswer).ServeHTTP(out, r); err != nil {
		caddy.Log().Named("http.svc.refusal").Error("a route of handle_errors failed", zap.String("code", p.Code), zap.Error(err))
	}
	switch {
	case out.begun:
	case out.held && out.answers():
		w.WriteHeader(p.Status)
	default:
		otherwise(w)
	}
}

// noAnswer is the end of the routes.
var noAnswer = caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error { return nil })

// restore gives the request the address back that the client asked for, as Caddy does before
// handle_errors.
func restore(r *http.Request) {
	if orig, ok := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request); ok {
		r.Method, r.RequestURI = orig.Method, orig.RequestURI
		*r.URL = *orig.URL // in place: placeholders are read from there
	}
}

// writer tells an answer from the bare status that Caddy writes where no route has one.
type writer struct {
	*caddyhttp.ResponseWriterWrapper
	status int  // of the refusal
	held   bool // that status is to be written
	begun  bool
}

func (w *writer) WriteHeader(code int) {
	switch {
	case w.begun || w.held:
	case code == w.status:
		w.held = true
	default:
		w.begun = code >= http.StatusOK
		w.ResponseWriterWrapper.WriteHeader(code)
	}
}

// answers reports whether the header says that there is more than a status.
func (w *writer) answers() bool {
	for _, name := range []string{"Content-Type", "Content-Length", "Location"} {
		if w.Header().Get(name) != "" {
			return true
		}
	}
	return false
}

// begin writes the status that was held back.
func (w *writer) begin() {
	if w.held && !w.begun {
		w.ResponseWriterWrapper.WriteHeader(w.status)
	}
	w.begun = true
}

func (w *writer) Write(p []byte) (int, error) {
	w.begin()
	return w.ResponseWriterWrapper.Write(p)
}

func (w *writer) ReadFrom(from io.Reader) (int64, error) {
	w.begin()
	return w.ResponseWriterWrapper.ReadFrom(from)
}

// FlushError is for [http.ResponseController], which would flush past this writer.
func (w *writer) FlushError() error {
	w.begin()
	return http.NewResponseController(w.ResponseWriter).Flush()
}
