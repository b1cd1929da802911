package auth

import (
	"fmt"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/oidc"
)

// newChain builds the providers that the setting auth.mode lists, in its order. Where anybody can
// log in, those of sessions and tickets come behind them, that of the cookie last: it counts less than
// what a request says, and more than the mode none, which takes any local request.
func newChain(a *app.App) (identity.Chain, error) {
	var chain identity.Chain
	origins := plainOrigins(a.Settings().CORS.Origins)
	for _, mode := range a.Settings().Auth.Mode {
		switch mode {
		case settings.ModeToken:
			chain = append(chain, identity.NewTokenProvider(a.Identity()))
		case settings.ModeNone:
			p, err := identity.NewNoneProvider(origins...)
			if err != nil {
				return nil, fmt.Errorf("auth.mode none: %w", err)
			}
			chain = append(chain, p)
		case settings.ModeLDAP:
			p, err := identity.NewBasicProvider(passwords(a), origins...)
			if err != nil {
				return nil, fmt.Errorf("auth.mode ldap: %w", err)
			}
			chain = append(chain, p)
		case settings.ModeOIDC:
			chain = append(chain, oidc.NewBearer(a.Issuers(), a.Identity().Admit, audience(a.Settings().Auth.PublicURL)))
		}
	}
	if modes := a.Settings().Auth.Mode; len(modes) == 1 && modes[0] == settings.ModeNone {
		return chain, nil
	}
	if !a.Settings().Auth.Has(settings.ModeToken) {
		chain = beforeNone(chain, identity.NewAPISessionProvider(a.Identity()))
	}
	chain = beforeNone(chain, identity.NewTicketProvider(a.Identity()))
	session, err := identity.NewSessionProvider(a.Identity(), origins...)
	if err != nil {
		return nil, fmt.Errorf("cors.origins: %w", err)
	}
	return beforeNone(chain, session), nil
}

// addCertificates has certificates asked about last, after what somebody sent or logged in with
// on purpose.
func (h *Handler) addCertificates(a *app.App) error {
	if len(h.ClientCertificate) == 0 {
		return nil
	}
	p, err := identity.NewCertificateProvider(a.Identity(), h.ClientCertificate, plainOrigins(a.Settings().CORS.Origins)...)
	if err != nil {
		return fmt.Errorf("client_certificate: %w", err)
	}
	a.AddCertificates(h.ClientCertificate)
	h.chain = beforeNone(h.chain, p)
	return nil
}

// beforeNone adds a provider behind the others but before the mode none, which takes any local
// request for this machine's user.
func beforeNone(chain identity.Chain, p identity.Provider) identity.Chain {
	at := slices.IndexFunc(chain, func(p identity.Provider) bool { return p.Name() == settings.ModeNone })
	if at < 0 {
		at = len(chain)
	}
	return slices.Insert(chain, at, p)
}

// passwords are those of the directory.
func passwords(a *app.App) identity.Passwords {
	return identity.Passwords{Service: a.Identity(), Directory: a.Directory()}
}

// plainOrigins leaves out patterns: a wildcard says who may read answers, not who may act as
// this machine's user.
func plainOrigins(origins []string) []string {
	var plain []string
	for _, o := range origins {
		if !strings.Contains(o, "*") {
			plain = append(plain, o)
		}
	}
	return plain
}
