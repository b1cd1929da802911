package auth

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/oidc"
	"github.com/svc-gateway/svc/policy/identity/web"
)

// newWeb builds what answers below the prefix.
func (h *Handler) newWeb(a *app.App) (*web.Handler, error) {
	s := a.Settings()
	c := web.Config{
		Service: a.Identity(), Chain: h.chain, Prefix: h.Prefix,
		Lifetime: time.Duration(s.Auth.SessionTTLHours) * time.Hour,
		Origins:  plainOrigins(s.CORS.Origins), Tokens: s.Auth.Has(settings.ModeToken),
		Keys:  h.publicKeys,
		Audit: a.Audit(), Log: h.logger,
	}
	if s.Auth.Has(settings.ModeLDAP) {
		c.Passwords = countedPasswords{passwords(a), h.count}
	}
	if set := a.Issuers(); set != nil {
		c.Issuers = &oidc.Flow{
			Set: set, PublicURL: s.Auth.PublicURL, Home: h.Prefix + "/login",
			Sessions: a.Identity().LogoutUpstream, Audit: a.Audit(),
			Arrival: func(r *http.Request) (root string, secure bool) {
				arrival := web.ArrivalOf(r)
				return arrival.Root, arrival.Secure
			},
		}
	}
	return web.New(c)
}

// serveOpen answers on a path of our own that needs no principal.
func (h *Handler) serveOpen(rec *recorder, r *http.Request) {
	if err := h.audit.Healthy(r.Context()); err != nil {
		h.unaudited(rec, r, err)
		return
	}
	h.web.ServeHTTP(rec, arriving(r, h.Prefix))
}

// serveOwn answers on a path of our own.
func (h *Handler) serveOwn(rec *recorder, r *http.Request, p policy.Principal) {
	r = arriving(r, h.Prefix)
	h.web.ServeHTTP(rec, r.WithContext(policy.WithPrincipal(r.Context(), p)))
}

// arriving tells package web what Caddy knows of a request.
func arriving(r *http.Request, prefix string) *http.Request {
	return r.WithContext(web.WithArrival(r.Context(), web.Arrival{Root: outer(r) + prefix, Secure: secure(r)}))
}

// outer is the beginning of the client's path that handle_path or uri took off.
func outer(r *http.Request) string {
	_, path := asked(r)
	if before, ok := strings.CutSuffix(path, r.URL.Path); ok && !strings.HasPrefix(path, "//") {
		return (&url.URL{Path: before}).EscapedPath()
	}
	return ""
}

// secure reports whether the client speaks TLS, with us or with a trusted proxy.
func secure(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	trusted, _ := caddyhttp.GetVar(r.Context(), caddyhttp.TrustedProxyVarKey).(bool)
	proto, _, _ := strings.Cut(r.Header.Get("X-Forwarded-Proto"), ",")
	return trusted && strings.EqualFold(strings.TrimSpace(proto), "https")
}

// toLogin sends a browser that shows no credential to the login page, which sends it back
// afterwards. It reports whether it did: programs get an answer that they understand.
func (h *Handler) toLogin(w http.ResponseWriter, r *http.Request, p problem.Problem) bool {
	if p.Status != http.StatusUnauthorized || r.Method != http.MethodGet || r.Header.Get("Authorization") != "" ||
		!web.WantsPage(r) || !h.web.CanLogIn() {
		return false
	}
	next := r.URL.RequestURI()
	if orig, ok := original(r); ok {
		next = orig.URL.RequestURI()
	}
	header := w.Header()
	header.Set("Location", outer(r)+h.Prefix+"/login?"+url.Values{"next": {next}}.Encode())
	header.Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusSeeOther)
	return true
}

// challenges returns the values of WWW-Authenticate. For Basic a browser would open a dialog of
// its own, and remember what is typed there.
func (h *Handler) challenges(r *http.Request, err error) []string {
	list := h.chain.Challenges(err)
	if !fromBrowser(r) || !h.web.CanLogIn() {
		return list
	}
	kept := list[:0]
	for _, c := range list {
		if !strings.HasPrefix(c, "Basic") {
			kept = append(kept, c)
		}
	}
	return kept
}

func fromBrowser(r *http.Request) bool {
	return r.Header.Get("Sec-Fetch-Mode") != "" || r.Header.Get("Origin") != "" ||
		len(r.CookiesNamed(identity.SessionCookie)) > 0 || web.WantsPage(r)
}
