package oidc_test

import (
	"crypto/ed25519"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/oidc"
	"github.com/svc-gateway/svc/policy/identity/oidc/oidctest"
)

// Nobody gets in with a token whose header or claims the provider has not signed.
func FuzzToken(f *testing.F) {
	p := oidctest.Start()
	f.Cleanup(p.Close)
	i := settings.Issuer{Name: "corp", URL: "https://idp.example", ClientID: "svc", GroupsClaim: "groups", AdminGroups: []string{"ops"}, Leeway: time.Minute}
	d := p.Discovery()
	for name, v := range d {
		if text, ok := v.(string); ok {
			d[name] = strings.Replace(text, p.URL, i.URL, 1)
		}
	}
	p.Override("/.well-known/openid-configuration", reply(d))
	s, err := oidc.New([]settings.Issuer{i}, oidc.Options{})
	if err != nil {
		f.Fatal(err)
	}
	s.UseTransport(p)
	f.Cleanup(s.Close)
	b := oidc.NewBearer(s, admit, nil)

	// The same key and claims in each of the processes that fuzz.
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	jwk := oidctest.JWK(key)
	jwk["kid"] = "ed"
	p.Override("/jwks", reply(map[string]any{"keys": []any{jwk}}))
	token := oidctest.Sign("EdDSA", key, map[string]any{"kid": "ed"}, map[string]any{
		"iss": i.URL, "aud": "svc", "sub": "1", "groups": "ops", "iat": 1_700_000_000, "exp": 4_102_444_800,
	})
	signed := token[:strings.LastIndexByte(token, '.')+1]
	f.Add(token)
	f.Add("eyJhbGciOiJub25lIn0.e30.")
	f.Add("e30.e30.e30")
	f.Fuzz(func(t *testing.T, token string) {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header["Authorization"] = []string{"Bearer " + token}
		_, outcome, err := b.Authenticate(r)
		token = strings.Trim(token, " ")
		if outcome == identity.Yes && !strings.HasPrefix(token, signed) {
			t.Errorf("let in with %q", token)
		}
		if outcome != identity.Yes && err == nil && strings.Count(token, ".") >= 2 {
			t.Errorf("%q is refused without a reason", token)
		}
	})
}

// A set of keys that the provider sends does no harm, whatever is in it, and none of its keys
// accepts a signature of somebody else.
func FuzzKeys(f *testing.F) {
	p := oidctest.Start()
	f.Cleanup(p.Close)
	doc, err := json.Marshal(map[string]any{"keys": p.JWKs()})
	if err != nil {
		f.Fatal(err)
	}
	stranger := oidctest.Start()
	f.Cleanup(stranger.Close)
	tokens := []string{
		stranger.Sign("RS256", "rsa", nil, stranger.Claims(nil)), stranger.Sign("ES256", "ec", nil, stranger.Claims(nil)),
		stranger.Sign("EdDSA", "ed", nil, stranger.Claims(nil)),
	}
	f.Add(doc)
	f.Add([]byte(`{"keys":[{"kty":"EC","crv":"P-256","x":"AA","y":"AA"},{"kty":"OKP","crv":"Ed25519","x":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}]}`))
	f.Add([]byte(`{"keys":[{"kty":"RSA","n":"AQ","e":"AQ"}]}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		for _, token := range tokens {
			if oidc.Accepts(doc, token) {
				t.Errorf("%s accepts a signature of somebody else", doc)
			}
		}
	})
}
