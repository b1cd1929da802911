package app

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"

	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/oidc"
)

// OIDCTest is a bearer token that an admin wants to see judged: what POST /oidc/test on the control
// socket is asked. The answer is an [identity.Report].
type OIDCTest struct {
	Token string `json:"token"`
}

// MaxOIDCTest is the largest body of an OIDCTest, in bytes: what a header may hold, in JSON.
const MaxOIDCTest = 2 << 20

// serveOIDCTest lets an admin try the providers of the running configuration.
func (a *App) serveOIDCTest(w http.ResponseWriter, r *http.Request) {
	var in OIDCTest
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, MaxOIDCTest)).Decode(&in); err != nil {
		problem.Write(w, r, problem.Problem{Status: http.StatusBadRequest, Detail: `The body must be {"token"}.`})
		return
	}
	if a.issuers == nil {
		problem.Write(w, r, problem.Problem{Status: http.StatusNotFound, Code: "no_issuer", Detail: errNoIssuer.Error()})
		return
	}
	a.answer(w, a.issuers.Explain(r.Context(), in.Token))
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
	return set.Explain(ctx, in.Token), nil
}
