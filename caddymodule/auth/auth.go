package auth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/cors"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/caddymodule/app"
	_ "github.com/svc-gateway/svc/caddymodule/app/commands" // admin, audit, config, login, scan and others
	"github.com/svc-gateway/svc/caddymodule/metric"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/assertion"
	"github.com/svc-gateway/svc/policy/identity/web"
)

const (
	defaultPrefix = "/auth"
	healthPath    = "/health"

	// unavailable is the code of requests refused because the audit log cannot be written.
	unavailable = "audit_unavailable"
	// pathAmbiguous is the code of requests refused because of their path.
	pathAmbiguous = "path_ambiguous"
	// roleInsufficient is the code of requests refused because of the option require.
	roleInsufficient = "role_insufficient"
)

func init() {
	caddy.RegisterModule(new(Handler))
}

// Handler authenticates requests. See the package comment.
type Handler struct {
	// The action that a principal's role must permit: "use", "mutate", "install", "admin" or
	// "approve-write". Default: none, any principal passes.
	Require policy.Action `json:"require,omitempty"`

	// The path below which the handler answers itself. Default: "/auth".
	Prefix string `json:"prefix,omitempty"`

	// Names of headers that tell the next handler who sends the request. Default: none.
	IdentityHeaders *IdentityHeaders `json:"identity_headers,omitempty"`

	// Paths that need no principal: "/favicon.ico", or "/public/*" for all below /public/. Requests
	// for them go on without identity, cleaned as all others. Default: none.
	Open []string `json:"open,omitempty"`

	// Whether credentials meant for us go on to the next handler. Default: false.
	PassCredentials bool `json:"pass_credentials,omitempty"`

	// Roles of verified TLS client certificates, by their names. The first rule that fits counts.
	// Default: none, certificates say nothing.
	ClientCertificate []identity.CertificateRule `json:"client_certificate,omitempty"`

	// A signed word of who sends the request, for the next handler. Default: none.
	Assertion *Assertion `json:"assertion,omitempty"`

	logger   *zap.Logger
	audit    auditor
	policy   *policy.Live // its rules on requests
	chain    identity.Chain
	web      *web.Handler
	cors     *cors.Cors // nil: no origin may
	rate     *rateLimit // nil: no limit
	resource *resource  // nil: clients learn nowhere where to get tokens
	outcomes *prometheus.CounterVec
	place    metric.Place
	foreign  bool // somebody's password or provider's token may be in Authorization
	users    noter
	signer   *assertion.Signer // nil without Assertion
	issuer   string            // of assertions
	keyFile  string            // of the key that signs them
	reserved reserved
	doubted  sync.Once // that a client's address is true
}

// auditor is what the handler needs of the audit log.
type auditor interface {
	Healthy(ctx context.Context) error
	Queue(ctx context.Context, e ...audit.Event) error
}

// noter is what the handler needs of the users.
type noter interface {
	NoteAddress(ctx context.Context, p policy.Principal) error
}

// CaddyModule returns the Caddy module information.
func (*Handler) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.svc_auth", New: func() caddy.Module { return new(Handler) }}
}

// Provision finds the app and builds what its settings ask for.
func (h *Handler) Provision(ctx caddy.Context) error {
	h.logger = ctx.Logger()
	if h.Prefix == "" {
		h.Prefix = defaultPrefix
	}
	h.reserved = newReserved(h.IdentityHeaders, h.Assertion)
	a, err := app.Get(ctx)
	if err != nil {
		return fmt.Errorf("finding the svc app: %w", err)
	}
	h.audit, h.policy = a.Audit(), a.Policy()
	h.users = a.Identity()
	h.keyFile = a.Home().AssertionKey()
	if h.Assertion != nil {
		h.issuer = cmp.Or(h.Assertion.Issuer, a.Settings().Auth.PublicURL, defaultIssuer)
		if h.signer, err = assertion.Open(h.keyFile); err != nil {
			return err
		}
	}
	h.foreign = a.Settings().Auth.Has(settings.ModeLDAP) || a.Settings().Auth.Has(settings.ModeOIDC)
	h.cors = newCORS(a.Settings())
	h.resource = newResource(a.Settings(), h.Open)
	h.rate = newRateLimit(a.Bus(), a.Settings().Limits)
	if h.outcomes, err = newOutcomes(ctx.GetMetricsRegistry()); err != nil {
		return err
	}
	if h.chain, err = newChain(a); err != nil {
		return err
	}
	if err := h.addCertificates(a); err != nil {
		return err
	}
	a.OnStart(h.warnUnguarded(ctx))
	h.web, err = h.newWeb(a)
	return err
}

// Validate refuses settings that would not work.
func (h *Handler) Validate() error {
	if h.Require != "" && !h.Require.Known() {
		return fmt.Errorf("require: unknown action %q: want use, mutate, install, admin or approve-write", h.Require)
	}
	if err := checkPrefix(h.Prefix); err != nil {
		return fmt.Errorf("prefix: %w", err)
	}
	for _, rule := range h.ClientCertificate {
		if err := rule.Check(); err != nil {
			return fmt.Errorf("client_certificate: %w", err)
		}
	}
	if err := checkOpenPaths(h.Open, h.Prefix); err != nil {
		return fmt.Errorf("open: %w", err)
	}
	if h.IdentityHeaders != nil {
		if err := h.IdentityHeaders.check(); err != nil {
			return err
		}
	}
	if h.Assertion != nil {
		return h.Assertion.check(h.IdentityHeaders)
	}
	return nil
}

func checkPrefix(p string) error {
	if !strings.HasPrefix(p, "/") || strings.HasSuffix(p, "/") || strings.ContainsAny(p, "?#%* ") {
		return fmt.Errorf("%q is not a path such as /auth", p)
	}
	return nil
}

// ServeHTTP lets a request pass that has a principal.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) (err error) {
	if p, ok := policy.PrincipalFrom(r.Context()); ok {
		return h.again(w, r, p, next)
	}
	h.doubt(r)
	r = addressed(h.asAsked(r))
	id := identify(w, r)
	h.reserved.strip(r.Header)
	h.reserved.stripTrailers(r)
	guardConnection(r.Header)
	guardUpgrade(r.Header)
	rec := newRecorder(h, w, r, id)
	if h.resource.describedAt(r.URL.Path) {
		h.describe(rec, r)
		return nil
	}
	if h.crossOrigin(rec, r) {
		return nil
	}
	if h.refusesPath(rec, r) {
		return nil
	}
	if forHealth(r) {
		rec.silent = true
		return h.serveUnknown(rec, r, next)
	}
	defer func() { rec.finish(err) }()
	if h.web.Open(r.URL.Path) {
		h.serveOpen(rec, r)
		return nil
	}
	if !h.web.Serves(r.URL.Path) && h.opens(r) {
		err = errAborted // unless the next handler returns
		return h.serveOpenPath(rec, r, next)
	}
	p, ok := h.authorize(rec, r)
	switch {
	case !ok:
		return nil
	case h.web.Serves(r.URL.Path):
		h.serveOwn(rec, r, p)
		return nil
	}
	err = errAborted // unless the next handler returns
	return next.ServeHTTP(rec, h.prepare(r, p))
}

// errAborted stands for the result of a handler that panicked.
var errAborted = errors.New("the handler was aborted")

// forHealth reports whether a request is for the path that needs no principal anywhere. A rewrite does
// not open a path.
func forHealth(r *http.Request) bool {
	method, path := asked(r)
	return (method == http.MethodGet || method == http.MethodHead) && path == healthPath && r.URL.Path == healthPath
}

// asked is what the client asked for, whatever a rewrite made of it.
func asked(r *http.Request) (method, path string) {
	if orig, ok := original(r); ok {
		return orig.Method, orig.URL.Path
	}
	return r.Method, r.URL.Path
}

// original is the request as the client sent it.
func original(r *http.Request) (http.Request, bool) {
	orig, ok := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request)
	return orig, ok
}

// crossOrigin sets the CORS fields, and reports whether the request was a preflight and has its
// answer.
func (h *Handler) crossOrigin(rec *recorder, r *http.Request) bool {
	if h.cors == nil {
		return false
	}
	h.cors.HandlerFunc(rec, r)
	rec.keepCORS()
	return rec.code != 0
}

// Interface guards.
var (
	_ caddy.Provisioner           = (*Handler)(nil)
	_ caddy.Validator             = (*Handler)(nil)
	_ caddyhttp.MiddlewareHandler = (*Handler)(nil)
)
