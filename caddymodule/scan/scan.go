package scan

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/caddymodule/app"
	_ "github.com/svc-gateway/svc/caddymodule/order" // the directives' places
	"github.com/svc-gateway/svc/internal/problem"
)

const defaultMaxScan = 1 << 20

// What to do with a body that has a Content-Encoding.
const (
	encodedRefuse = "refuse"
	encodedPass   = "pass"
)

func init() {
	caddy.RegisterModule(new(Handler))
}

// Handler scans request bodies for injections. See the package comment.
type Handler struct {
	// The longest body that is held in memory and scanned as a whole, in bytes. Longer ones
	// are scanned while they pass. Default: 1048576 (1 MiB).
	MaxScan int64 `json:"max_scan,omitempty"`

	// The longest body that is accepted, in bytes. Default: the setting limits.body_bytes,
	// which is 4 MiB unless set.
	MaxBody int64 `json:"max_body,omitempty"`

	// What to do with a compressed body: "refuse" answers 415, "pass" lets it through
	// unscanned with a WARNING for each. Default: refuse.
	Encoded string `json:"encoded,omitempty"`

	logger *zap.Logger
	audit  auditor
}

// auditor takes events for the audit log.
type auditor interface {
	Queue(ctx context.Context, e ...audit.Event) error
}

// CaddyModule returns the Caddy module information.
func (*Handler) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.svc_scan", New: func() caddy.Module { return new(Handler) }}
}

// Provision fills in the defaults and finds the app.
func (h *Handler) Provision(ctx caddy.Context) error {
	h.logger = ctx.Logger()
	a, err := app.Get(ctx)
	if err != nil {
		return fmt.Errorf("finding the svc app: %w", err)
	}
	h.audit = a.Audit()
	h.defaults(a.Settings().Limits.BodyBytes)
	return nil
}

func (h *Handler) defaults(maxBody int64) {
	if h.MaxBody == 0 {
		h.MaxBody = maxBody
	}
	if h.MaxScan == 0 {
		h.MaxScan = min(defaultMaxScan, h.MaxBody)
	}
	if h.Encoded == "" {
		h.Encoded = encodedRefuse
	}
}

// Validate refuses settings that contradict each other.
func (h *Handler) Validate() error {
	switch {
	case h.MaxScan < 0:
		return fmt.Errorf("max_scan: %d is negative", h.MaxScan)
	case h.MaxBody < 0:
		return fmt.Errorf("max_body: %d is negative", h.MaxBody)
	case h.MaxScan > h.MaxBody:
		return fmt.Errorf("max_scan: %d is more than max_body, %d", h.MaxScan, h.MaxBody)
	case h.Encoded != encodedRefuse && h.Encoded != encodedPass:
		return fmt.Errorf("encoded: unknown value %q: want refuse or pass", h.Encoded)
	}
	return nil
}

// ServeHTTP scans the request's body and calls the next handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	rep := newReport(r)
	if r.Body == nil || r.ContentLength == 0 {
		return next.ServeHTTP(w, r)
	}
	if p, refused := h.refuses(r); refused {
		problem.Write(w, r, p)
		return nil
	}
	rest, err := h.scanBody(r, rep)
	if err != nil {
		return answer(w, r, err)
	}
	h.publish(r, rep)
	err = next.ServeHTTP(w, r)
	if rest != nil {
		rest.finish()
		h.publish(r, rep)
	}
	if errors.Is(err, errTooLarge) { // hence the handler could not answer yet
		return answer(w, r, err)
	}
	return err
}

// Interface guards.
var (
	_ caddy.Provisioner           = (*Handler)(nil)
	_ caddy.Validator             = (*Handler)(nil)
	_ caddyhttp.MiddlewareHandler = (*Handler)(nil)
)
