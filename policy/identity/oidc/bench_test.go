package oidc_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/oidc"
	"github.com/svc-gateway/svc/policy/identity/oidc/oidctest"
)

// A token that was seen before, as the next thousand requests of a client have it, and one that
// is refused, as somebody sends who wants to keep us busy.
func BenchmarkBearer(b *testing.B) {
	p := oidctest.Start()
	defer p.Close()
	s, err := oidc.New([]settings.Issuer{{Name: "corp", URL: p.URL, ClientID: "svc", GroupsClaim: "groups", AdminGroups: []string{"ops"}}}, oidc.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	bearer := oidc.NewBearer(s, admit, nil)
	for _, bb := range []struct {
		name, token string
		want        identity.Outcome
	}{
		{"again", p.Token(nil), identity.Yes},
		{"refused", p.Token(map[string]any{"aud": "x"}), identity.No},
	} {
		b.Run(bb.name, func(b *testing.B) {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.Header.Set("Authorization", "Bearer "+bb.token)
			b.ReportAllocs()
			for b.Loop() {
				if _, outcome, err := bearer.Authenticate(r); outcome != bb.want {
					b.Fatal(outcome, err)
				}
			}
		})
	}
}
