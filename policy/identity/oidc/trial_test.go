package oidc_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/svc-gateway/svc/internal/settings"
)

func TestExplainLogin(t *testing.T) {
	p := provider(t)
	for name, tt := range map[string]struct {
		provider string
		change   func(*settings.Issuer)
		path     string // of the provider that answers otherwise
		handler  http.HandlerFunc
		steps    int
		want     string
	}{
		"by its name":        {"corp", nil, "", nil, 4, ""},
		"the only one":       {"", nil, "", nil, 4, ""},
		"unknown":            {"other", nil, "", nil, 1, `there is no provider "other"; there are corp`},
		"for bearer tokens":  {"corp", func(i *settings.Issuer) { i.ClientID, i.ClientSecret = "", "" }, "", nil, 1, "has no client_id"},
		"another identifier": {"corp", func(i *settings.Issuer) { i.URL += "/" }, "", nil, 2, "exactly the provider's own"},
		"another client":     {"corp", func(i *settings.Issuer) { i.ClientID = "x" }, "", nil, 3, "does it know client_id x and the redirect URI https://gw.example/auth/oidc/corp/callback?"},
		"a login page":       {"corp", nil, "/authorize", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }, 4, ""},
		"an error sent back": {"corp", nil, "/authorize", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://gw.example/?error=invalid_scope", http.StatusFound)
		}, 3, "refuses the request: invalid_scope"},
		"nobody is logged in": {"corp", nil, "/authorize", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://gw.example/?error=login_required", http.StatusFound)
		}, 4, ""},
		"the secret is wrong": {"corp", nil, "/token", func(w http.ResponseWriter, _ *http.Request) { fail(w, "invalid_client") }, 4, "does not accept client_id and client_secret"},
		"it may not do this":  {"corp", nil, "/token", func(w http.ResponseWriter, _ *http.Request) { fail(w, "unauthorized_client") }, 4, "does not accept client_id and client_secret"},
		"it takes whatever comes": {"corp", nil, "/token", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"access_token":"a","token_type":"Bearer"}`))
		}, 4, "made up"},
	} {
		t.Run(name, func(t *testing.T) {
			i := at(p)
			if tt.change != nil {
				tt.change(&i)
			}
			if tt.handler != nil {
				p.Override(tt.path, tt.handler)
				defer p.Override(tt.path, nil)
			}
			got := newSet(t, i).ExplainLogin(t.Context(), tt.provider, "https://gw.example/auth")
			if len(got.Steps) != tt.steps || (got.Error == "") != (tt.want == "") || !strings.Contains(got.Error, tt.want) {
				t.Errorf("got %+v, want %d steps and %q", got, tt.steps, tt.want)
			}
		})
	}
}

func fail(w http.ResponseWriter, code string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	_, _ = w.Write([]byte(`{"error":"` + code + `"}`))
}
