package oidc_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/oidc"
)

func TestResource(t *testing.T) {
	for address, want := range map[string]string{
		"":                            "",
		"https://gw.example.com":      "https://gw.example.com/mcp",
		"https://GW.Example.com:443":  "https://gw.example.com/mcp",
		"https://gw.example.com:8443": "https://gw.example.com:8443/mcp",
		"http://gw.example.com:80":    "http://gw.example.com/mcp",
		"http://gw.example.com:443":   "http://gw.example.com:443/mcp",
		"http://[::1]:2280":           "http://[::1]:2280/mcp",
		"http://[::80]":               "http://[::80]/mcp",
	} {
		if got := oidc.Resource(address, "/mcp"); got != want {
			t.Errorf("%q: got %q, want %q", address, got, want)
		}
	}
}

// A token that is made for a resource is good there, whoever asked for it, and nowhere else; one that is
// good for the API is good there as well.
func TestTokenForAResource(t *testing.T) {
	const resource = "https://gw.example.com/mcp"
	p := provider(t)
	other := func(i settings.Issuer) settings.Issuer { i.Audience = []string{"api"}; return i }
	parties := func(i settings.Issuer) settings.Issuer { i.AuthorizedParties = []string{"cli"}; return i }
	for name, tt := range map[string]struct {
		issuer        settings.Issuer
		claims        map[string]any
		at, elsewhere string // why it is refused
	}{
		"for it":                        {at(p), map[string]any{"aud": resource, "azp": "editor"}, "", "not for this service"},
		"for it, one of several":        {at(p), map[string]any{"aud": []string{"x", resource}, "client_id": "editor"}, "", "not for this service"},
		"for it, beside other settings": {other(at(p)), map[string]any{"aud": resource, "azp": "editor"}, "", "not for this service"},
		"for it, by a known client":     {parties(at(p)), map[string]any{"aud": resource, "azp": "cli"}, "", "not for this service"},
		"for it, by an unknown client":  {parties(at(p)), map[string]any{"aud": resource, "azp": "editor"}, "issued to another client", "not for this service"},
		"for it, by nobody":             {parties(at(p)), map[string]any{"aud": resource, "azp": nil}, "issued to another client", "not for this service"},
		"for it and us, by another":     {at(p), map[string]any{"aud": []string{"svc", resource}, "azp": "editor"}, "", "issued to another client"},
		"for us":                        {at(p), nil, "", ""},
		"for us, by another":            {at(p), map[string]any{"azp": "editor"}, "issued to another client", "issued to another client"},
		"for another audience of ours":  {other(at(p)), map[string]any{"aud": "api"}, "", ""},
		"for another":                   {at(p), map[string]any{"aud": "https://billing.example.com/mcp"}, "not for this service", "not for this service"},
		"for the host":                  {at(p), map[string]any{"aud": "https://gw.example.com"}, "not for this service", "not for this service"},
		"for what is below":             {at(p), map[string]any{"aud": resource + "/"}, "not for this service", "not for this service"},
		"for a longer path":             {at(p), map[string]any{"aud": resource + "x"}, "not for this service", "not for this service"},
		"in capitals":                   {at(p), map[string]any{"aud": strings.ToUpper(resource)}, "not for this service", "not for this service"},
		"for nobody":                    {at(p), map[string]any{"aud": ""}, "not for this service", "not for this service"},
	} {
		t.Run(name, func(t *testing.T) {
			b := oidc.NewBearer(newSet(t, tt.issuer), admit, func(r *http.Request) string {
				if r.URL.Path == oidc.MCPPath {
					return resource
				}
				return ""
			})
			token := p.Token(tt.claims)
			for range 2 { // what is remembered of one path says nothing about the other
				for path, want := range map[string]string{oidc.MCPPath: tt.at, "/": tt.elsewhere} {
					r := httptest.NewRequest(http.MethodPost, path, nil)
					r.Header.Set("Authorization", "Bearer "+token)
					_, outcome, err := b.Authenticate(r)
					if want == "" && outcome != identity.Yes {
						t.Errorf("%s: got %v, %v, want yes", path, outcome, err)
					} else if want != "" && (outcome != identity.No || err == nil || !strings.Contains(err.Error(), want)) {
						t.Errorf("%s: got %v, %v, want no, %s", path, outcome, err, want)
					}
				}
			}
		})
	}
}

func TestExplainAResource(t *testing.T) {
	p := provider(t)
	s := newSet(t, at(p))
	token := p.Token(map[string]any{"aud": "https://gw.example.com/mcp", "groups": []string{"staff"}})
	if got := s.Explain(t.Context(), token, ""); !strings.Contains(got.Error, "not for this service") {
		t.Errorf("without a resource: got %+v", got)
	}
	got := s.Explain(t.Context(), token, "https://gw.example.com/mcp")
	var detail string
	for _, step := range got.Steps {
		if step.Name == "audience" {
			detail = step.Detail
		}
	}
	if got.Error != "" || !strings.HasSuffix(detail, ", for https://gw.example.com/mcp") {
		t.Errorf("got %q, %q", got.Error, detail)
	}
}
