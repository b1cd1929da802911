package auth

import (
	"fmt"
	"strings"

	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/oidc"
)

// newChain builds the providers that the setting auth.mode lists, in its order.
func newChain(a *app.App) (identity.Chain, error) {
	var chain identity.Chain
	for _, mode := range a.Settings().Auth.Mode {
		switch mode {
		case settings.ModeToken:
			chain = append(chain, identity.NewTokenProvider(a.Identity()))
		case settings.ModeNone:
			p, err := identity.NewNoneProvider(plainOrigins(a.Settings().CORS.Origins)...)
			if err != nil {
				return nil, fmt.Errorf("auth.mode none: %w", err)
			}
			chain = append(chain, p)
		case settings.ModeLDAP:
			p, err := identity.NewBasicProvider(passwords(a), plainOrigins(a.Settings().CORS.Origins)...)
			if err != nil {
				return nil, fmt.Errorf("auth.mode ldap: %w", err)
			}
			chain = append(chain, p)
		case settings.ModeOIDC:
			chain = append(chain, oidc.NewBearer(a.Issuers(), a.Identity().Admit))
		}
	}
	return chain, nil
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
