package redact

import (
	"cmp"
	"fmt"
	"net/http"
	"sync"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/caddymodule/directive"
	"github.com/svc-gateway/svc/caddymodule/refusal"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/internal/websocket"
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

	// What stays although the rules would take it. Default: nothing.
	Allow Allow `json:"allow,omitzero"`

	// "redact" takes secrets away. "observe" changes no response: it counts what would be taken in
	// svc_redact_total and logs it, by rule and place, never the value; responses that "redact" would
	// refuse pass, and their reason is logged. Default: "redact".
	Mode string `json:"mode,omitempty"`

	// What becomes of the credentials that a token endpoint issues (RFC 6749: the answer to a POST that
	// is a JSON object with access_token and token_type). "redact" takes access_token, refresh_token and
	// id_token away as anywhere else, so that clients cannot log in through this site, and says so in the
	// log once. "pass" leaves them, and keeps such an answer until it is complete. Default: "redact".
	OAuthTokens string `json:"oauth_tokens,omitempty"`

	// What becomes of the thinking that Anthropic signs: content blocks of the types thinking and
	// redacted_thinking, and their pieces in streams. "pass" leaves it whole, known secrets excepted: a
	// block that was changed is refused when the client sends it back. "redact" treats it like any other
	// text. Default: "pass".
	SignedThinking string `json:"signed_thinking,omitempty"`

	// Where secrets with placeholders were written, by "secrets[0]". Of a Caddyfile, for errors.
	Places directive.Places `json:"places,omitempty"`

	logger  *zap.Logger
	known   *secrets
	metrics *metrics
	hint    sync.Once // that the answer of a token endpoint was redacted
}

// The modes.
const (
	redacts = "redact"
	observe = "observe"
)

// What becomes of something.
const (
	toRedact = "redact"
	toPass   = "pass"
)

// CaddyModule returns the Caddy module information.
func (*Handler) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.svc_redact", New: func() caddy.Module { return new(Handler) }}
}

// Provision gets the logger, the metric and the secrets.
func (h *Handler) Provision(ctx caddy.Context) (err error) {
	h.logger = ctx.Logger()
	h.Mode, h.OAuthTokens, h.SignedThinking = cmp.Or(h.Mode, redacts), cmp.Or(h.OAuthTokens, toRedact), cmp.Or(h.SignedThinking, toPass)
	if h.metrics, err = newMetrics(ctx.GetMetricsRegistry()); err != nil {
		return err
	}
	if err := h.Allow.provision(ctx, h.SignedThinking == toPass); err != nil {
		return err
	}
	h.known, err = newSecrets(ctx, h.Secrets, h.Places)
	return err
}

// Validate refuses media types that are none, and values that mean nothing.
func (h *Handler) Validate() error {
	if h.Mode != redacts && h.Mode != observe {
		return fmt.Errorf("mode: unknown value %q: want %s or %s", h.Mode, redacts, observe)
	}
	if h.OAuthTokens != toRedact && h.OAuthTokens != toPass {
		return fmt.Errorf("oauth_tokens: unknown value %q: want %s or %s", h.OAuthTokens, toRedact, toPass)
	}
	if h.SignedThinking != toRedact && h.SignedThinking != toPass {
		return fmt.Errorf("signed_thinking: unknown value %q: want %s or %s", h.SignedThinking, toPass, toRedact)
	}
	if err := h.Allow.validate(); err != nil {
		return err
	}
	for _, media := range h.Pass {
		if err := checkMedia(media); err != nil {
			return fmt.Errorf("pass: %w", err)
		}
	}
	return nil
}

// ServeHTTP calls the next handler with a writer that redacts.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	if r.Method == http.MethodConnect && h.Mode != observe {
		w.Header().Set("Allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS")
		refusal.Write(w, r, problem.Problem{
			Status: http.StatusMethodNotAllowed, Code: "tunnel_refused",
			Detail: "Responses are redacted here, and a tunnel cannot be.",
		})
		return nil
	}
	allowed, err := h.Allow.of(r)
	if err != nil {
		return caddyhttp.Error(http.StatusBadRequest, err)
	}
	websocket.Plain(r.Header)
	r.Header["Accept-Encoding"] = identity
	if h.Mode == observe {
		return h.serve(newWriter(w, r, h, allowed), r, next)
	}
	websocket.Narrow(r)
	if asksForPart(r) {
		if sent, err := h.servePart(w, r, next, allowed); sent {
			return err
		}
	}
	delete(r.Header, "Range")
	delete(r.Header, "If-Range")
	return h.serve(newWriter(w, r, h, allowed), r, next)
}

var identity = []string{"identity"}

// Interface guards.
var (
	_ caddy.Provisioner           = (*Handler)(nil)
	_ caddy.Validator             = (*Handler)(nil)
	_ caddyhttp.MiddlewareHandler = (*Handler)(nil)
)
