package app

import (
	"errors"
	"os"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/oidc"
)

// Issuers returns the identity providers of the mode oidc; nil when that is not a mode.
func (a *App) Issuers() *oidc.Set { return a.issuers }

// newIssuers makes the set of providers, with what the running configuration knows of them.
func (a *App) newIssuers() (err error) {
	if !a.settings.Auth.Has(settings.ModeOIDC) {
		return nil
	}
	a.issuers, err = oidc.New(a.settings.Issuers(), oidc.Options{
		Env: os.LookupEnv, LoginKey: a.home.LoginKey(), Trouble: a.issuerTrouble,
	})
	if err != nil {
		return a.placed(err)
	}
	if old := a.shared.issuers.Load(); old != nil {
		a.issuers.Inherit(old)
	}
	return nil
}

// startIssuers asks the providers for the first time. It does not wait: one that is down holds
// up its own users alone.
func (a *App) startIssuers() {
	if a.issuers == nil {
		return
	}
	a.shared.issuers.Store(a.issuers)
	a.issuers.Warm()
}

// renewer is who renews sessions of identity providers; nil where there are none.
func (a *App) renewer() identity.Renewer {
	if a.issuers == nil {
		return nil
	}
	return a.issuers
}

// warnIssuers says what the settings of identity providers leave to chance.
func (a *App) warnIssuers() {
	for _, i := range a.settings.Issuers() {
		if i.ClientID != "" && a.settings.Auth.PublicURL == "" {
			a.logger.Warn("auth.public_url is not set: after a logout the identity provider is not told where to send people back to, and the address that it gets at a login is what the request's Host says", zap.String("issuer", i.Name))
		}
		if i.ClientID != "" && i.UserClaim == "" {
			a.logger.Warn("oidc user_claim is not set: users are called what preferred_username says, which at some providers people choose and change themselves; choose a claim that they cannot, see docs/auth.md", zap.String("issuer", i.Name))
		}
	}
}

func (a *App) issuerTrouble(name string, err error) {
	if err == nil {
		a.logger.Info("the identity provider can be reached again", zap.String("issuer", name))
		return
	}
	if errors.Is(err, oidc.ErrClient) {
		a.logger.Warn("nobody can log in at the identity provider: it does not accept client_id and client_secret", zap.String("issuer", name), zap.Error(err))
		return
	}
	a.logger.Warn("the identity provider cannot be reached", zap.String("issuer", name), zap.Error(err))
}
