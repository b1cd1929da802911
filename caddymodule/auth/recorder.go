package auth

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/bus"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

// recorder is the ResponseWriter that accounts for a request when its status is known.
type recorder struct {
	caddyhttp.ResponseWriterWrapper
	handler   *Handler
	ctx       context.Context // the request's; outlives the client's interest
	id        []string
	method    string
	path      string
	address   string
	principal policy.Principal
	grant     *bus.Grant // what the rate limit said; nil: nothing
	reason    string     // why it was refused
	code      int        // 0 until the header is out
	silent    bool       // not accounted for
	cors      [len(corsFields)][]string
	kept      bool // cors holds what the final header has to say
}

func newRecorder(h *Handler, w http.ResponseWriter, r *http.Request, id []string) *recorder {
	rec := &recorder{
		ResponseWriterWrapper: caddyhttp.ResponseWriterWrapper{ResponseWriter: w},
		handler:               h, id: id, address: identity.Address(r), ctx: r.Context(),
	}
	rec.method, rec.path = asked(r)
	return rec
}

// keepCORS remembers the fields that are set by now, for the final header.
func (rec *recorder) keepCORS() {
	h := rec.Header()
	for i, name := range corsFields {
		rec.cors[i] = h[name]
	}
	rec.kept = true
}

// WriteHeader accounts for the request and puts our own fields in place of the next handler's.
func (rec *recorder) WriteHeader(code int) {
	if rec.code == 0 && (code >= 200 || code == http.StatusSwitchingProtocols) {
		rec.code = code
		h := rec.Header()
		h[requestID] = rec.id
		if rec.kept {
			rec.placeCORS(h)
		}
		if rec.grant != nil {
			rec.handler.rate.tell(h, *rec.grant)
		}
		rec.account(code)
	}
	rec.ResponseWriter.WriteHeader(code)
}

func (rec *recorder) placeCORS(h http.Header) {
	for i, name := range corsFields {
		if rec.cors[i] == nil {
			delete(h, name)
		} else {
			h[name] = rec.cors[i]
		}
	}
}

// Write writes, with a header if there was none yet.
func (rec *recorder) Write(p []byte) (int, error) {
	if rec.code == 0 {
		rec.WriteHeader(http.StatusOK)
	}
	return rec.ResponseWriter.Write(p)
}

// ReadFrom copies r, with a header if there was none yet.
func (rec *recorder) ReadFrom(r io.Reader) (int64, error) {
	if rec.code == 0 {
		rec.WriteHeader(http.StatusOK)
	}
	return rec.ResponseWriterWrapper.ReadFrom(r)
}

// FlushError flushes, with a header if there was none yet.
func (rec *recorder) FlushError() error {
	if rec.code == 0 {
		rec.WriteHeader(http.StatusOK)
	}
	return http.NewResponseController(rec.ResponseWriter).Flush()
}

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
	rec.account(rec.code)
}

// account queues the record. The client may be gone by now, and is accounted for all the same.
func (rec *recorder) account(code int) {
	if rec.silent {
		return
	}
	e := audit.Event{
		Type: audit.Request, User: rec.principal.User, Role: string(rec.principal.Role),
		TokenID: rec.principal.TokenID, OnBehalfOf: rec.principal.OnBehalfOf, Address: rec.address,
		Method: rec.method, Path: rec.path, Code: code,
	}
	if rec.reason != "" {
		e.Reasons = []string{rec.reason}
	}
	ctx := context.WithoutCancel(rec.ctx)
	if rec.reason == unavailable {
		// The queue is kept for better days; where it is full, waiting would be for nothing.
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Second)
		defer cancel()
	}
	if err := rec.handler.audit.Queue(ctx, e); err != nil {
		rec.handler.logger.Error("accounting for a request", zap.Error(err))
	}
}

var _ io.ReaderFrom = (*recorder)(nil)
