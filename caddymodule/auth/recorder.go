package auth

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/bus"
	"github.com/svc-gateway/svc/internal/respond"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

// recorder is the ResponseWriter that accounts for a request when its status is known.
type recorder struct {
	respond.Writer
	respond.Untouched
	handler *Handler
	ctx     context.Context // the request's; outlives the client's interest
	id      []string
	event   []audit.Event // the record in the making, alone in a slice that the log takes over
	role    policy.Role   // of who sends the request, for the access log
	by      string        // the provider that let the request in
	grant   bus.Grant     // what the rate limit said
	granted bool          // it said something
	reason  string        // why it was refused
	reasons []string      // what rules said
	code    int           // 0 until the header is out
	silent  bool          // not accounted for
	cors    http.Header   // what the final header has to say of corsFields; nil: whatever it says
}

func newRecorder(h *Handler, w http.ResponseWriter, r *http.Request, id []string) *recorder {
	rec := &recorder{handler: h, id: id, ctx: r.Context(), event: make([]audit.Event, 1)}
	rec.Writer = respond.New(w, rec)
	e := &rec.event[0]
	e.Type, e.Address, e.RequestID = audit.Request, identity.Address(r), id[0]
	e.Method, e.Path = asked(r)
	return rec
}

// sentBy notes who sends the request, also for the access log, where Caddy's own field user_id
// says who it is.
func (rec *recorder) sentBy(p policy.Principal, by string) {
	e := &rec.event[0]
	e.User, e.Role, e.TokenID, e.OnBehalfOf = p.User, string(p.Role), p.TokenID, p.OnBehalfOf
	rec.role, rec.by = p.Role, by
	if server, ok := rec.ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server); !ok || server.Logs == nil {
		return // there is no access log to add to; what modules log with slog goes without
	}
	if extra, ok := rec.ctx.Value(caddyhttp.ExtraLogFieldsCtxKey).(*caddyhttp.ExtraLogFields); ok {
		extra.Set(zap.Inline(rec))
	}
}

// ruled notes what rules made of the request.
func (rec *recorder) ruled(d policy.Decision) {
	e := &rec.event[0]
	e.Decision, e.Rule, e.PolicyHash, rec.reasons = string(d.Effect), d.Rule, d.PolicyHash, d.Reasons
}

// MarshalLogObject adds the fields of the access log.
func (rec *recorder) MarshalLogObject(line zapcore.ObjectEncoder) error {
	line.AddString("user_role", string(rec.role))
	line.AddString("auth_provider", rec.by)
	return nil
}

// Begin accounts for the request and puts our own fields in place of the next handler's.
func (rec *recorder) Begin(code int) {
	rec.code = code
	h := rec.Header()
	h[requestID] = rec.id
	decideCORS(h, rec.cors)
	if rec.granted {
		rec.handler.rate.tell(h, rec.grant)
	}
	rec.account()
	rec.ResponseWriter.WriteHeader(code)
}

// Hijack gives the connection away: who uses it was asked before.
func (rec *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) { return rec.Tunnel() }

// finish accounts for a request that was not answered, or whose answer Caddy writes because
// the next handler returned an error.
func (rec *recorder) finish(err error) {
	if rec.code != 0 {
		return
	}
	rec.code = http.StatusOK
	if err != nil {
		rec.code = http.StatusInternalServerError
		if he, ok := errors.AsType[caddyhttp.HandlerError](err); ok && he.StatusCode != 0 {
			rec.code = he.StatusCode
		}
	}
	rec.account()
}

// account queues the record. The client may be gone by now, and is accounted for all the same.
func (rec *recorder) account() {
	if rec.silent {
		return
	}
	rec.event[0].Code = rec.code
	if rec.reason != "" {
		rec.event[0].Reasons = append([]string{rec.reason}, rec.reasons...)
	} else {
		rec.event[0].Reasons = rec.reasons
	}
	ctx := context.WithoutCancel(rec.ctx)
	if rec.reason == unavailable {
		// The queue is kept for better days; where it is full, waiting would be for nothing.
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Second)
		defer cancel()
	}
	if err := rec.handler.audit.Queue(ctx, rec.event...); err != nil {
		rec.handler.logger.Error("accounting for a request", zap.Error(err))
	}
	rec.event = nil // it is the log's, and a stream may be open for long
}
