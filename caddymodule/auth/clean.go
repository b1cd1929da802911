package auth

import (
	"net/http"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/svc-gateway/svc/policy"
)

func init() {
	caddy.RegisterModule(new(Cleaner))
}

// Cleaner takes out of requests what only an svc_auth may set, and lets everybody pass. A Caddyfile has
// one beside each svc_auth with a matcher, for the requests that this does not match: they may reach the
// same server. A request that an svc_auth has let through stays as it is.
type Cleaner struct {
	// Names of headers that an svc_auth of the site sets. Default: none beside those that are always
	// removed.
	IdentityHeaders *IdentityHeaders `json:"identity_headers,omitempty"`

	// The assertion that an svc_auth of the site adds; its header counts. Default: none.
	Assertion *Assertion `json:"assertion,omitempty"`

	reserved reserved
}

// CaddyModule returns the Caddy module information.
func (*Cleaner) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.svc_auth_clean", New: func() caddy.Module { return new(Cleaner) }}
}

// Provision collects the names.
func (c *Cleaner) Provision(caddy.Context) error {
	c.reserved = newReserved(c.IdentityHeaders, c.Assertion)
	return nil
}

// ServeHTTP cleans the request.
func (c *Cleaner) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	if _, known := policy.PrincipalFrom(r.Context()); !known {
		c.reserved.strip(r.Header)
		c.reserved.stripTrailers(r)
		guardConnection(r.Header)
		guardUpgrade(r.Header) // on such a connection all paths could be asked for
	}
	return next.ServeHTTP(w, r)
}

// Beside is what has to see the requests that the directive's matcher leaves out.
func (h *Handler) Beside() caddyhttp.MiddlewareHandler {
	return &Cleaner{IdentityHeaders: h.IdentityHeaders, Assertion: h.Assertion}
}

// Interface guards.
var (
	_ caddy.Provisioner           = (*Cleaner)(nil)
	_ caddyhttp.MiddlewareHandler = (*Cleaner)(nil)
)
