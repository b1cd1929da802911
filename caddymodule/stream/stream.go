package stream

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	svcapp "github.com/svc-gateway/svc/caddymodule/app"
	_ "github.com/svc-gateway/svc/caddymodule/app/commands" // admin, audit, config, login, scan and others
	"github.com/svc-gateway/svc/internal/respond"
	"github.com/svc-gateway/svc/policy"
)

const (
	defaultKeepalive    = 8 * time.Second
	defaultWriteTimeout = 30 * time.Second
	defaultGrace        = time.Second
)

// The keepalive styles. An empty line is legal wherever an event may begin and harmless to
// clients that read line by line. A comment ends with one newline only: older SDKs of the graph
// protocol take a comment followed by an empty line for an event.
const (
	styleNewline = "newline"
	styleComment = "comment"
)

func init() {
	caddy.RegisterModule(new(Handler))
}

// Handler keeps event streams alive, flushed and authorised. See the package comment.
type Handler struct {
	// How long a stream may be silent before a keepalive is written. Negative: no keepalives.
	// Default: "8s".
	Keepalive caddy.Duration `json:"keepalive,omitempty"`

	// What a keepalive is: "newline", one empty line, or "comment", the line ": hb".
	// Default: "newline".
	KeepaliveStyle string `json:"keepalive_style,omitempty"`

	// How long one write to a client may take before the client is cut. Default: "30s".
	WriteTimeout caddy.Duration `json:"write_timeout,omitempty"`

	// How long the handler may go on writing after its stream was ended, for its last events.
	// When the process stops, the server's grace period takes its place. Default: "1s".
	Grace caddy.Duration `json:"grace,omitempty"`

	logger  *zap.Logger
	users   users
	hub     *hub
	metrics *metrics
}

// users tells what a principal is by now.
type users interface {
	Resolve(ctx context.Context, p policy.Principal) (policy.Principal, error)
}

// CaddyModule returns the Caddy module information.
func (*Handler) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.svc_stream", New: func() caddy.Module { return new(Handler) }}
}

// Provision fills in the defaults and finds the app.
func (h *Handler) Provision(ctx caddy.Context) error {
	h.logger = ctx.Logger()
	h.defaults()
	a, err := svcapp.Get(ctx)
	if err != nil {
		return fmt.Errorf("finding the svc app: %w", err)
	}
	h.users = a.Identity()
	h.hub = newHub(a)
	h.metrics, err = newMetrics(ctx.GetMetricsRegistry())
	return err
}

func (h *Handler) defaults() {
	if h.Keepalive == 0 {
		h.Keepalive = caddy.Duration(defaultKeepalive)
	}
	if h.KeepaliveStyle == "" {
		h.KeepaliveStyle = styleNewline
	}
	if h.WriteTimeout == 0 {
		h.WriteTimeout = caddy.Duration(defaultWriteTimeout)
	}
	if h.Grace == 0 {
		h.Grace = caddy.Duration(defaultGrace)
	}
}

// Validate refuses settings that would not work.
func (h *Handler) Validate() error {
	switch {
	case checkKeepalive(h.Keepalive) != nil:
		return fmt.Errorf("keepalive: %w", checkKeepalive(h.Keepalive))
	case h.KeepaliveStyle != styleNewline && h.KeepaliveStyle != styleComment:
		return fmt.Errorf("keepalive_style: unknown style %q: want newline or comment", h.KeepaliveStyle)
	case h.WriteTimeout < 0:
		return fmt.Errorf("write_timeout: %s is negative", time.Duration(h.WriteTimeout))
	case h.Grace < 0:
		return fmt.Errorf("grace: %s is negative", time.Duration(h.Grace))
	}
	return nil
}

// checkKeepalive refuses what would be a flood.
func checkKeepalive(d caddy.Duration) error {
	if d > 0 && d < caddy.Duration(100*time.Millisecond) {
		return fmt.Errorf("%s is shorter than 100ms: write a longer time, such as 8s", time.Duration(d))
	}
	return nil
}

// Cleanup lets the hub go once the last stream has left. Open streams go on: the configuration
// they came from is replaced, not their request.
func (h *Handler) Cleanup() error {
	if h.hub != nil {
		h.hub.retire()
	}
	return nil
}

// ServeHTTP calls the next handler with a writer that takes care of event streams and with a
// context that ends when its stream has to.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) (err error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	sw := &writer{handler: h, cancel: cancel, request: r.WithContext(ctx)}
	sw.Writer = respond.New(w, sw)
	defer func() {
		if sw.over() && (sw.beats || !sw.live) {
			// reverse_proxy aborts the connection when its context ends. It was this stage
			// that ended it, so the client gets a regular end of its events, and comes back for
			// more. Lines and messages break off: a regular end would say that these are all.
			respond.Forgive(recover())
		}
	}()
	defer func() { err = sw.finish(err) }()
	err = next.ServeHTTP(sw, sw.request)
	sw.returned = true
	return err
}

// interval is the time between two looks at a stream, which goes on when keepalives are off.
func (h *Handler) interval() time.Duration {
	if h.Keepalive < 0 {
		return defaultKeepalive
	}
	return time.Duration(h.Keepalive)
}

// keepalive is what to write into a silent stream; nil is nothing.
func (h *Handler) keepalive() []byte {
	switch {
	case h.Keepalive < 0:
		return nil
	case h.KeepaliveStyle == styleComment:
		return commentBeat
	}
	return newlineBeat
}

var (
	commentBeat = []byte(": hb\n")
	newlineBeat = []byte("\n")
)

// Interface guards.
var (
	_ caddy.Provisioner           = (*Handler)(nil)
	_ caddy.Validator             = (*Handler)(nil)
	_ caddy.CleanerUpper          = (*Handler)(nil)
	_ caddyhttp.MiddlewareHandler = (*Handler)(nil)
)
