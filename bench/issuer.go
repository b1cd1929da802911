package main

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// issuer is an OpenID Connect provider that only publishes its key.
type issuer struct {
	url    string
	key    ed25519.PrivateKey
	server *http.Server
}

func startIssuer() (*issuer, error) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening: %w", err)
	}
	i := &issuer{url: "http://" + ln.Addr().String(), key: private}
	documents := map[string]any{
		"/.well-known/openid-configuration": map[string]any{
			"issuer": i.url, "jwks_uri": i.url + "/jwks",
			"authorization_endpoint": i.url + "/authorize", "token_endpoint": i.url + "/token",
			"response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"},
			"id_token_signing_alg_values_supported": []string{"EdDSA"},
		},
		"/jwks": map[string]any{"keys": []any{map[string]string{
			"kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "use": "sig", "kid": "bench",
			"x": base64.RawURLEncoding.EncodeToString(public),
		}}},
	}
	i.server = &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		document, ok := documents[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(document) // who asks notices what is missing
	})}
	go func() { _ = i.server.Serve(ln) }() // until stop
	return i, nil
}

func (i *issuer) stop() { _ = i.server.Close() }

// token is an access token of an ordinary user for the audience bench.
func (i *issuer) token() (string, error) {
	now := time.Now()
	t := jwt.NewWithClaims(jwt.SigningMethodEdDSA, jwt.MapClaims{
		"iss": i.url, "sub": "bench", "aud": "bench", "preferred_username": "bench-jwt", "groups": []string{"users"},
		"iat": now.Unix(), "nbf": now.Unix(), "exp": now.Add(time.Hour).Unix(), "jti": "1",
	})
	t.Header["kid"] = "bench"
	signed, err := t.SignedString(i.key)
	if err != nil {
		return "", fmt.Errorf("signing a token: %w", err)
	}
	return signed, nil
}
