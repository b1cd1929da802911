package auth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/cors"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/caddymodule/app"
	_ "github.com/svc-gateway/svc/caddymodule/order" // the directives' places
	"github.com/svc-gateway/svc/internal/credentials"
	"github.com/svc-gateway/svc/internal/problem"
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
	// roleInsufficient is the code of requests refused because of the option require.
	roleInsufficient = "role_insufficient"
)

func init() {
	caddy.RegisterModule(new(Handler))
}

// Handler authenticates requests. See the package comment.
type Handler struct {
	// The action that a principal's role must permit: use, mutate, install, admin or
	// approve-write. Default: none, any principal passes.
	Require policy.Action `json:"require,omitempty"`

	// The path below which the handler answers itself. Default: /auth.
	Prefix string `json:"prefix,omitempty"`

	// Names of headers that tell the next handler who sends the request. Default: none.
	IdentityHeaders *IdentityHeaders `json:"identity_headers,omitempty"`

	// Whether credentials meant for us go on to the next handler. Default: false.
	PassCredentials bool `json:"pass_credentials,omitempty"`

	// Roles of verified TLS client certificates, by their names. The first rule that fits counts.
	// Default: none, certificates say nothing.
	ClientCertificate []identity.CertificateRule `json:"client_certificate,omitempty"`

	// A signed word of who sends the request, for the next handler. Default: none.
	Assertion *Assertion `json:"assertion,omitempty"`

	logger   *zap.Logger
	audit    auditor
	chain    identity.Chain
	web      *web.Handler
	cors     *cors.Cors // nil: no origin may
	rate     *rateLimit // nil: no limit
	outcomes *prometheus.CounterVec
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
	h.audit = a.Audit()
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
		return fmt.Errorf("%q is no path, such as /auth", p)
	}
	return nil
}

// ServeHTTP lets a request pass that has a principal.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) (err error) {
	if p, ok := policy.PrincipalFrom(r.Context()); ok {
		return h.again(w, r, p, next)
	}
	h.doubt(r)
	r = credentials.Note(addressed(r))
	id := identify(w, r)
	h.reserved.strip(r.Header)
	rec := newRecorder(h, w, r, id)
	if h.crossOrigin(rec, r) {
		return nil
	}
	if open(r) {
		rec.silent = true
		h.stripCredentials(r.Header, h.foreign)
		return next.ServeHTTP(rec, r)
	}
	defer func() { rec.finish(err) }()
	if h.web.Open(r.URL.Path) {
		h.serveOpen(rec, r)
		return nil
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
	return next.ServeHTTP(rec, h.admit(r, p))
}

// errAborted stands for the result of a handler that panicked.
var errAborted = errors.New("the handler was aborted")

// open reports whether the request needs no principal. A rewrite does not open a path.
func open(r *http.Request) bool {
	method, path := asked(r)
	return (method == http.MethodGet || method == http.MethodHead) && path == healthPath && r.URL.Path == healthPath
}

// asked is what the client asked for, whatever a rewrite made of it.
func asked(r *http.Request) (method, path string) {
	if orig, ok := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request); ok {
		return orig.Method, orig.URL.Path
	}
	return r.Method, r.URL.Path
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

// authorize finds out who sends the request and whether they may, or answers it.
func (h *Handler) authorize(rec *recorder, r *http.Request) (p policy.Principal, ok bool) {
	var by, outcome string
	if err := h.audit.Healthy(r.Context()); err != nil {
		outcome = h.unaudited(rec, r, err)
	} else if p, by, err = h.chain.Decide(r); err != nil {
		outcome = h.refuse(rec, r, err)
	} else {
		rec.principal = p
		note(r, p, by)
		outcome = h.allow(rec, r, p)
	}
	h.outcomes.WithLabelValues(cmp.Or(by, nobody), outcome).Inc()
	return p, outcome == succeeded
}

// allow lets a principal pass who does not send too much and has the role, or answers.
func (h *Handler) allow(rec *recorder, r *http.Request, p policy.Principal) (outcome string) {
	if outcome := h.limit(rec, r, p); outcome != succeeded {
		return outcome
	}
	if !h.permits(p) && !h.web.Serves(r.URL.Path) { // nobody is kept from their own sessions
		rec.reason = roleInsufficient
		h.forbid(rec, r, p)
		return roleInsufficient
	}
	if err := h.users.NoteAddress(r.Context(), p); err != nil {
		h.logger.Error("accounting for a request", zap.Error(err))
	}
	return succeeded
}

// note tells the access log, with Caddy's own field user_id, who sends the request.
func note(r *http.Request, p policy.Principal, by string) {
	placeholders(r, p)
	if extra, ok := r.Context().Value(caddyhttp.ExtraLogFieldsCtxKey).(*caddyhttp.ExtraLogFields); ok {
		extra.Set(zap.String("user_role", string(p.Role)))
		extra.Set(zap.String("auth_provider", by))
	}
}

func placeholders(r *http.Request, p policy.Principal) {
	if repl, ok := r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer); ok {
		repl.Set("http.auth.user.id", p.User)
		repl.Set("http.auth.user.role", string(p.Role))
	}
}

// again is ServeHTTP behind another svc_auth, which has done all but what differs here.
func (h *Handler) again(w http.ResponseWriter, r *http.Request, p policy.Principal, next caddyhttp.Handler) error {
	if !h.permits(p) {
		h.forbid(w, r, p)
		return nil
	}
	placeholders(r, p)
	return next.ServeHTTP(w, h.admit(r, p))
}

// admit prepares an authenticated request for the next handler.
func (h *Handler) admit(r *http.Request, p policy.Principal) *http.Request {
	h.stripCredentials(r.Header, external(p))
	if h.IdentityHeaders != nil {
		h.IdentityHeaders.set(r.Header, p)
	}
	if h.Assertion != nil {
		h.assert(r, p)
	}
	h.reserved.guardConnection(r.Header)
	return r.WithContext(policy.WithPrincipal(r.Context(), p))
}

// external reports whether the request's Authorization was a credential of another source, such
// as a password of the directory, that let the request in.
func external(p policy.Principal) bool {
	return p.SessionID == "" && (p.Source == policy.SourceOIDC || p.Source == policy.SourceLDAP)
}

// stripCredentials removes what was meant for this stage: our own forms always, a password or a
// provider's token in Authorization when foreign.
func (h *Handler) stripCredentials(header http.Header, foreign bool) {
	if h.PassCredentials {
		return
	}
	if foreign {
		header.Del("Authorization")
	}
	identity.Strip(header)
	stripCookie(header, identity.SessionCookie)
}

// refuse answers a request that the providers did not let pass, and returns why.
func (h *Handler) refuse(rec *recorder, r *http.Request, err error) (outcome string) {
	p := h.chain.Problem(err)
	rec.reason = p.Code
	for _, c := range h.challenges(r, err) {
		rec.Header().Add("WWW-Authenticate", c)
	}
	outcome = missing
	if refused, ok := errors.AsType[*identity.Refused](err); ok {
		outcome = refused.Reason
		if refused.RetryAfter > 0 {
			retryAfter(rec.Header(), refused.RetryAfter)
		}
	} else if p.Status >= http.StatusInternalServerError {
		h.logger.Error("authenticating a request", zap.Error(err))
		outcome = technical
	}
	if !h.toLogin(rec, r, p) {
		h.web.Problem(rec, arriving(r, h.Prefix), p)
	}
	return outcome
}

// retryAfter says when it is worth trying again (RFC 9110, 10.2.3).
func retryAfter(h http.Header, wait time.Duration) {
	h.Set("Retry-After", strconv.FormatInt(seconds(wait), 10))
}

// seconds rounds up, so that who waits that long has waited long enough.
func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

func (h *Handler) permits(p policy.Principal) bool {
	return h.Require == "" || p.Role.May(h.Require)
}

// forbid refuses a principal whose role does not permit what is required, on record.
func (h *Handler) forbid(w http.ResponseWriter, r *http.Request, p policy.Principal) {
	method, path := asked(r)
	err := h.audit.Queue(context.WithoutCancel(r.Context()), audit.Event{
		Type: audit.PermissionDenied, User: p.User, Role: string(p.Role), TokenID: p.TokenID, OnBehalfOf: p.OnBehalfOf,
		Address: p.Address, Method: method, Path: path, Action: string(h.Require), Status: "denied",
		Decision: string(policy.Deny), Rule: policy.RulePermission,
		Reasons: []string{fmt.Sprintf("permission: role %s may not %s", p.Role, h.Require)},
	})
	if err != nil {
		h.logger.Error("accounting for a request", zap.Error(err))
	}
	h.web.Problem(w, arriving(r, h.Prefix), problem.Problem{
		Status: http.StatusForbidden, Code: roleInsufficient,
		Detail: fmt.Sprintf("This needs the permission %q, which the role %q has not.", h.Require, p.Role),
	})
}

func (h *Handler) unaudited(rec *recorder, r *http.Request, err error) (outcome string) {
	h.logger.Error("request refused because the audit log cannot be written", zap.Error(err))
	rec.reason = unavailable
	rec.Header().Set("Retry-After", "5")
	problem.Write(rec, r, problem.Problem{
		Status: http.StatusServiceUnavailable, Code: unavailable,
		Detail: "The audit log cannot be written, and nothing is done without it; try again later.",
	})
	return unavailable
}

// Interface guards.
var (
	_ caddy.Provisioner           = (*Handler)(nil)
	_ caddy.Validator             = (*Handler)(nil)
	_ caddyhttp.MiddlewareHandler = (*Handler)(nil)
)
