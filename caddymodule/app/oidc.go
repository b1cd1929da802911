package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"

	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/oidc"
)

// OIDCTest is a bearer token that an admin wants to see judged, or the way of a login to be tried: what
// POST /oidc/test on the control socket is asked. The answer is an [identity.Report].
type OIDCTest struct {
	Token string     `json:"token,omitempty"`
	Login *OIDCLogin `json:"login,omitempty"`
}

// OIDCLogin is a login that is tried as far as that can be done without a person.
type OIDCLogin struct {
	Provider string `json:"provider,omitempty"` // its name; empty: the only one
	URL      string `json:"url,omitempty"`      // the address that browsers know the service by; empty: auth.public_url
	Prefix   string `json:"prefix,omitempty"`   // of svc_auth
}

var errNoURL = errors.New("auth.public_url is not set: say with --url by which address browsers know the service")

// ask asks the providers of the settings.
func (in OIDCTest) ask(ctx context.Context, set *oidc.Set, publicURL string) identity.Report {
	if in.Login == nil {
		return set.Explain(ctx, in.Token, oidc.Resource(publicURL, oidc.MCPPath))
	}
	at := cmp.Or(in.Login.URL, publicURL)
	if at == "" {
		return identity.Report{Steps: []identity.Step{}, Error: errNoURL.Error()}
	}
	return set.ExplainLogin(ctx, in.Login.Provider, strings.TrimSuffix(at, "/")+in.Login.Prefix)
}

// MaxOIDCTest is the largest body of an OIDCTest, in bytes: what a header may hold, in JSON.
const MaxOIDCTest = 2 << 20

// serveOIDCTest lets an admin try the providers of the running configuration.
func (a *App) serveOIDCTest(w http.ResponseWriter, r *http.Request) {
	var in OIDCTest
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, MaxOIDCTest)).Decode(&in); err != nil {
		problem.Write(w, r, problem.Problem{Status: http.StatusBadRequest, Detail: `The body must be {"token"} or {"login"}.`})
		return
	}
	if a.issuers == nil {
		problem.Write(w, r, problem.Problem{Status: http.StatusNotFound, Code: "no_issuer", Detail: errNoIssuer.Error()})
		return
	}
	a.answer(w, in.ask(r.Context(), a.issuers, a.settings.Auth.PublicURL))
}

var errNoIssuer = errors.New("auth.mode has no oidc, so there is no identity provider to ask")

// Explain asks the providers of the settings, without a running service.
func (in OIDCTest) Explain(ctx context.Context, s settings.Settings) (identity.Report, error) {
	if !s.Auth.Has(settings.ModeOIDC) {
		return identity.Report{}, errNoIssuer
	}
	set, err := oidc.New(s.Issuers(), oidc.Options{Env: os.LookupEnv})
	if err != nil {
		return identity.Report{}, err
	}
	defer set.Close()
	return in.ask(ctx, set, s.Auth.PublicURL), nil
}
