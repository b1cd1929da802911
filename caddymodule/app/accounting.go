package app

import (
	"context"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/internal/respond"
	"github.com/svc-gateway/svc/policy"
)

// unavailable is the code of requests refused because the audit log cannot be written.
const unavailable = "audit_unavailable"

// auditor is what the control socket needs of the audit log.
type auditor interface {
	Healthy(ctx context.Context) error
	Queue(ctx context.Context, e ...audit.Event) error
}

// isPoll reports whether the request only looks whether and how the service is. Such requests come
// many times a second while the command line waits; they tell nothing that needs a record, and
// they are answered when none can be written, because that is among what they tell.
func isPoll(r *http.Request) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	return r.URL.Path == "/status" || r.URL.Path == "/health" || r.URL.Path == "/health/details"
}

// recorder is the ResponseWriter that accounts for a control request when its status is known.
type recorder struct {
	respond.Writer
	respond.Untouched
	audit      auditor
	ctx        context.Context // the request's; outlives the client's interest
	method     string
	path       string
	principal  policy.Principal
	reason     string // why it was refused
	silent     bool   // not accounted for
	code       int    // 0 until the header is out
	unanswered int    // the status when the handler returns without one
}

// refuse answers with a problem, whose code is the reason in the record.
func (rec *recorder) refuse(r *http.Request, p problem.Problem) {
	rec.reason = p.Code
	problem.Write(rec, r, p)
}

// newRecorder returns a recorder of an answer to the request.
func newRecorder(w http.ResponseWriter, r *http.Request, log auditor) *recorder {
	rec := &recorder{audit: log, ctx: r.Context(), method: r.Method, path: r.URL.Path}
	rec.Writer = respond.New(w, rec)
	return rec
}

// Begin accounts for the request.
func (rec *recorder) Begin(code int) {
	rec.account(code)
	rec.ResponseWriter.WriteHeader(code)
}

// finish accounts for a request whose handler wrote nothing.
func (rec *recorder) finish() {
	if rec.code == 0 {
		rec.account(rec.unanswered)
	}
}

// account queues the record. The client may be gone by now, and is accounted for all the same.
func (rec *recorder) account(code int) {
	rec.code = code
	if rec.silent {
		return
	}
	e := audit.Event{
		Type: audit.Request, User: rec.principal.User, Role: string(rec.principal.Role), Address: rec.principal.Address,
		Method: rec.method, Path: rec.path, Code: code,
	}
	ctx := context.WithoutCancel(rec.ctx)
	if rec.reason != "" {
		e.Reasons = []string{rec.reason}
		// The log may be what is broken. Its queue is kept for better days; where it is full,
		// waiting would be for nothing.
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Second)
		defer cancel()
	}
	if err := rec.audit.Queue(ctx, e); err != nil {
		caddy.Log().Named("svc").Error("accounting for a request", zap.Error(err))
	}
}
