package agents

import (
	"context"
	"net/http"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/policy"
)

// accounted is the API on the control socket, where no svc_auth stands in front: it accounts
// for each request and answers none that could not be.
type accounted struct {
	api   http.Handler
	audit *audit.Log
	log   *zap.Logger
}

func (a accounted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rec := &statusWriter{ResponseWriter: w, account: func(code int) { a.account(r, code) }}
	if err := a.audit.Healthy(r.Context()); err != nil {
		problem.Write(rec, r, problem.Problem{
			Status: http.StatusServiceUnavailable, Code: "audit_unavailable",
			Detail: "the audit log cannot be written, and nothing is done without it; try again later",
		})
		return
	}
	a.api.ServeHTTP(rec, r)
}

func (a accounted) account(r *http.Request, code int) {
	if r.URL.Path == "/health" {
		return
	}
	p, _ := policy.PrincipalFrom(r.Context())
	err := a.audit.Queue(context.WithoutCancel(r.Context()), audit.Event{
		Type: audit.Request, User: p.User, Role: string(p.Role), Address: p.Address,
		Method: r.Method, Path: r.URL.Path, Code: code,
	})
	if err != nil {
		a.log.Error("accounting for a request", zap.Error(err))
	}
}

// statusWriter tells the status of a response when its header goes out.
type statusWriter struct {
	http.ResponseWriter
	account func(code int)
	wrote   bool
}

func (w *statusWriter) WriteHeader(code int) {
	if !w.wrote {
		w.wrote = true
		w.account(code)
	}
	w.ResponseWriter.WriteHeader(code)
}

func (w *statusWriter) Write(p []byte) (int, error) {
	if !w.wrote {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController find what the connection can do.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
