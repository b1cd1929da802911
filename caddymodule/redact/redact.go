package redact

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/caddymodule/refusal"
	"github.com/svc-gateway/svc/internal/problem"
)

func init() {
	caddy.RegisterModule(new(Handler))
}

// Handler redacts credentials in responses. See the package comment.
type Handler struct {
	// More media types that pass untouched, such as "application/x-protobuf" or "model/*".
	// Whatever they carry is not looked at. Default: none.
	Pass []string `json:"pass,omitempty"`

	// Values that are secrets wherever they stand, also escaped or in base64; placeholders such as
	// {env.UPSTREAM_KEY} and {file./run/secrets/key} are replaced. At least 8 bytes each. The keys
	// that the settings of the app svc name, and the credentials of each request, are known
	// anyway. Default: none.
	Secrets []string `json:"secrets,omitempty"`

	logger *zap.Logger
	known  *secrets
}

// CaddyModule returns the Caddy module information.
func (*Handler) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.svc_redact", New: func() caddy.Module { return new(Handler) }}
}

// Provision gets the logger and the secrets.
func (h *Handler) Provision(ctx caddy.Context) (err error) {
	h.logger = ctx.Logger()
	h.known, err = newSecrets(ctx, h.Secrets)
	return err
}

// Validate refuses media types that are none.
func (h *Handler) Validate() error {
	for _, media := range h.Pass {
		if err := checkMedia(media); err != nil {
			return fmt.Errorf("pass: %w", err)
		}
	}
	return nil
}

// ServeHTTP calls the next handler with a writer that redacts.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	if r.Method == http.MethodConnect {
		w.Header().Set("Allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
		refusal.Write(w, r, problem.Problem{
			Status: http.StatusMethodNotAllowed, Code: "tunnel_refused",
			Detail: "Responses are redacted here, and a tunnel cannot be.",
		})
		return nil
	}
	secrets := h.known.of(r)
	askPlain(r)
	if asksForPart(r) {
		if sent, err := h.servePart(w, r, next, secrets); sent {
			return err
		}
	}
	delete(r.Header, "Range")
	delete(r.Header, "If-Range")
	return h.serve(newWriter(w, r, h, secrets), r, next)
}

var identity = []string{"identity"}

// askPlain makes the request one for an uncompressed response in this protocol.
func askPlain(r *http.Request) {
	h := r.Header
	h["Accept-Encoding"] = identity
	if h["Upgrade"] == nil {
		return
	}
	// A server is free to ignore Upgrade (RFC 9110, section 7.8); so it does not see it.
	delete(h, "Upgrade")
	var keep []string
	for option := range strings.SplitSeq(strings.Join(h["Connection"], ","), ",") {
		if option = strings.TrimSpace(option); option != "" && !strings.EqualFold(option, "upgrade") {
			keep = append(keep, option)
		}
	}
	h["Connection"] = []string{strings.Join(keep, ", ")}
	if len(keep) == 0 {
		delete(h, "Connection")
	}
}

// Interface guards.
var (
	_ caddy.Provisioner           = (*Handler)(nil)
	_ caddy.Validator             = (*Handler)(nil)
	_ caddyhttp.MiddlewareHandler = (*Handler)(nil)
)
