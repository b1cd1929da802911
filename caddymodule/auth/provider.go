package auth

import (
	"fmt"
	"net/http"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/caddyauth"

	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/policy/identity"
)

func init() {
	caddy.RegisterModule(new(Provider))
}

// Provider lets Caddy's own authentication handler accept what svc_auth accepts. It sets
// {http.auth.user.id} and {http.auth.user.role} and nothing else: there is no typed principal,
// no accounting, no credential is removed, and because Caddy knows only one answer, a provider
// that cannot tell who sends a request ends in 401 as well.
type Provider struct {
	chain identity.Chain
}

// CaddyModule returns the Caddy module information.
func (*Provider) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.authentication.providers.svc", New: func() caddy.Module { return new(Provider) }}
}

// Provision builds the providers that the setting auth.mode lists.
func (p *Provider) Provision(ctx caddy.Context) error {
	a, err := app.Get(ctx)
	if err != nil {
		return fmt.Errorf("finding the svc app: %w", err)
	}
	p.chain, err = newChain(a)
	return err
}

// Authenticate tells Caddy who sends the request.
func (p *Provider) Authenticate(w http.ResponseWriter, r *http.Request) (caddyauth.User, bool, error) {
	principal, err := p.chain.Authenticate(addressed(r))
	if err != nil {
		for _, c := range p.chain.Challenges(err) {
			w.Header().Add("WWW-Authenticate", c)
		}
		if p.chain.Problem(err).Status >= http.StatusInternalServerError {
			return caddyauth.User{}, false, err
		}
		return caddyauth.User{}, false, nil
	}
	return caddyauth.User{ID: principal.User, Metadata: map[string]string{"role": string(principal.Role)}}, true, nil
}

var (
	_ caddy.Provisioner       = (*Provider)(nil)
	_ caddyauth.Authenticator = (*Provider)(nil)
)
