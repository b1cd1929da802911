// Package oidctest has OpenID Connect providers for tests: [Start] one of our own, which can be
// told to misbehave, [StartNode] a certified one, which needs Node.js.
//
//	p := oidctest.Start()
//	defer p.Close()
//	token := p.Token(map[string]any{"sub": "1", "groups": []string{"ops"}})
//	p.Override("/jwks", http.HandlerFunc(…)) // from now on
//
// All methods may be used at the same time.
package oidctest

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// The client that a provider knows.
const (
	ClientID     = "svc"
	ClientSecret = "correct-horse-battery-staple"
)

// Provider is an identity provider on a port of this host.
type Provider struct {
	URL    string // its issuer identifier
	server *httptest.Server

	mu        sync.Mutex
	keys      map[string]any    // private ones, by kid
	taken     []*rsa.PrivateKey // to be given back
	overrides map[string]http.Handler
	requests  map[string]int // by path
	user      map[string]any // claims of who logs in
	codes     map[string]code
	refresh   map[string]map[string]any // claims, by refresh token
	refused   bool                      // whether refresh tokens are
}

// Start starts a provider with the keys rsa, ec and ed.
func Start() *Provider {
	p := &Provider{
		overrides: map[string]http.Handler{}, requests: map[string]int{},
		codes: map[string]code{}, refresh: map[string]map[string]any{},
		user: map[string]any{"sub": "1", "preferred_username": "alice", "groups": []string{"ops"}},
	}
	p.Rotate("")
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", p.discovery)
	mux.HandleFunc("GET /jwks", p.jwks)
	mux.HandleFunc("GET /authorize", p.authorize)
	mux.HandleFunc("POST /token", p.token)
	mux.HandleFunc("GET /userinfo", p.userInfo)
	p.server = httptest.NewServer(p.count(mux))
	p.URL = p.server.URL
	return p
}

// Close ends the provider.
func (p *Provider) Close() {
	p.server.CloseClientConnections()
	p.server.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	rsaKeys.give(p.taken...)
	p.taken = nil
}

// RoundTrip answers without a connection, whatever the host is, so that a test can do without
// real time.
func (p *Provider) RoundTrip(r *http.Request) (*http.Response, error) {
	w, done := httptest.NewRecorder(), make(chan struct{})
	go func() {
		defer close(done)
		p.server.Config.Handler.ServeHTTP(w, r)
	}()
	select {
	case <-done:
		return w.Result(), nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

// Override has the handler answer for a path, or again the provider itself when it is nil.
func (p *Provider) Override(path string, h http.Handler) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.overrides[path] = h
}

// Requests is how often the path was asked for.
func (p *Provider) Requests(path string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.requests[path]
}

func (p *Provider) count(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.requests[r.URL.Path]++
		h := p.overrides[r.URL.Path]
		p.mu.Unlock()
		if h == nil {
			h = next
		}
		h.ServeHTTP(w, r)
	})
}

// Rotate replaces all keys; the names of the new ones end in suffix.
func (p *Provider) Rotate(suffix string) {
	e, err1 := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	_, d, err2 := ed25519.GenerateKey(rand.Reader)
	if err1 != nil || err2 != nil {
		panic("oidctest: there is no randomness")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	r := rsaKeys.take()
	p.taken = append(p.taken, r)
	p.keys = map[string]any{"rsa" + suffix: r, "ec" + suffix: e, "ed" + suffix: d}
}

// rsaKeys are used again when their provider is closed, because to make one takes a second.
var rsaKeys pool

type pool struct {
	mu   sync.Mutex
	free []*rsa.PrivateKey
}

func (p *pool) take() *rsa.PrivateKey {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		k := p.free[n-1]
		p.free = p.free[:n-1]
		return k
	}
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic("oidctest: there is no randomness")
	}
	return k
}

func (p *pool) give(k ...*rsa.PrivateKey) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, k...)
}

// Key returns a private key by its name.
func (p *Provider) Key(kid string) any {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.keys[kid]
}

// Claims returns those of a good token, with more set and those that are nil in it left out.
func (p *Provider) Claims(more map[string]any) map[string]any {
	now := time.Now().Unix()
	c := map[string]any{
		"iss": p.URL, "aud": ClientID, "sub": "1", "preferred_username": "alice",
		"groups": []string{"ops"}, "iat": now, "exp": now + 300,
	}
	maps.Copy(c, more)
	maps.DeleteFunc(c, func(_ string, v any) bool { return v == nil })
	return c
}

// Token returns a token with [Provider.Claims], signed with the key rsa.
func (p *Provider) Token(more map[string]any) string {
	return p.Sign("RS256", "rsa", nil, p.Claims(more))
}

// Sign returns a token with these claims, signed with the key of that name. header is added to
// the usual one; what is nil in it is left out.
func (p *Provider) Sign(alg, kid string, header, claims map[string]any) string {
	return Sign(alg, p.Key(kid), with(map[string]any{"kid": kid}, header), claims)
}

// Sign returns a token signed with any key. header may say something else than alg.
func Sign(alg string, key any, header, claims map[string]any) string {
	method := jwt.GetSigningMethod(alg)
	signed := encode(with(map[string]any{"alg": alg, "typ": "JWT"}, header)) + "." + encode(claims)
	signature, err := method.Sign(signed, key)
	if err != nil {
		panic("oidctest: signing: " + err.Error())
	}
	return signed + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func with(base, more map[string]any) map[string]any {
	maps.Copy(base, more)
	maps.DeleteFunc(base, func(_ string, v any) bool { return v == nil })
	return base
}

func encode(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic("oidctest: " + err.Error())
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// Discovery is the discovery document.
func (p *Provider) Discovery() map[string]any {
	return map[string]any{
		"issuer": p.URL, "jwks_uri": p.URL + "/jwks", "authorization_endpoint": p.URL + "/authorize",
		"token_endpoint": p.URL + "/token", "userinfo_endpoint": p.URL + "/userinfo", "end_session_endpoint": p.URL + "/logout",
		"id_token_signing_alg_values_supported":          []string{"RS256", "ES256", "EdDSA"},
		"authorization_response_iss_parameter_supported": true,
		"response_types_supported":                       []string{"code"},
		"subject_types_supported":                        []string{"public"},
		"code_challenge_methods_supported":               []string{"S256"},
	}
}

func (p *Provider) discovery(w http.ResponseWriter, _ *http.Request) { answer(w, p.Discovery()) }

func (p *Provider) jwks(w http.ResponseWriter, _ *http.Request) {
	answer(w, map[string]any{"keys": p.JWKs()})
}

// JWKs are the public keys.
func (p *Provider) JWKs() []map[string]any {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []map[string]any
	for kid, key := range p.keys {
		k := JWK(key)
		k["kid"], k["use"] = kid, "sig"
		all = append(all, k)
	}
	return all
}

// JWK returns the public part of a private key (RFC 7517).
func JWK(key any) map[string]any {
	switch key := key.(type) {
	case *rsa.PrivateKey:
		return map[string]any{"kty": "RSA", "n": number(key.N), "e": number(big.NewInt(int64(key.E)))}
	case *ecdsa.PrivateKey:
		raw, err := key.PublicKey.Bytes()
		if err != nil {
			panic("oidctest: " + err.Error())
		}
		half := (len(raw) - 1) / 2 // after a byte that says: uncompressed
		return map[string]any{
			"kty": "EC", "crv": key.Curve.Params().Name,
			"x": base64.RawURLEncoding.EncodeToString(raw[1 : 1+half]), "y": base64.RawURLEncoding.EncodeToString(raw[1+half:]),
		}
	case ed25519.PrivateKey:
		return map[string]any{"kty": "OKP", "crv": "Ed25519", "x": base64.RawURLEncoding.EncodeToString(key[32:])}
	}
	panic(fmt.Sprintf("oidctest: there are no keys of type %T", key))
}

func number(n *big.Int) string { return base64.RawURLEncoding.EncodeToString(n.Bytes()) }

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}
