//go:build linux

package testscript

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"strings"

	"github.com/svc-gateway/svc/policy/identity/oidc/oidctest"
)

// issuer runs the identity provider of package oidctest under a name.
func issuer(c *call) error {
	if len(c.args) != 2 {
		return errors.New("usage: issuer start|down|up|rotate NAME")
	}
	name := c.args[1]
	p := c.issuers[name]
	if p == nil && c.args[0] != "start" {
		return fmt.Errorf("there is no issuer %s", name)
	}
	const discovery = "/.well-known/openid-configuration"
	switch c.args[0] {
	case "start":
		p = oidctest.Start()
		c.cleanup(p.Close)
		c.issuers[name] = p
		c.ts.Setenv(name, p.URL)
		c.ts.Setenv("OIDC_SECRET", oidctest.ClientSecret)
	case "down":
		p.Override(discovery, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }))
	case "up":
		p.Override(discovery, nil)
	case "rotate":
		p.Rotate("2")
	default:
		return fmt.Errorf("issuer cannot %s", c.args[0])
	}
	return nil
}

// mintJWT makes a token, good unless the flags and claims say otherwise.
func mintJWT(c *call) error {
	f := flag.NewFlagSet("jwt", flag.ContinueOnError)
	f.SetOutput(&c.err)
	by := f.String("by", "ISSUER", "whose token it is")
	alg := f.String("alg", "RS256", "how it is signed, or none")
	kid := f.String("kid", "rsa", "the name of the key")
	key := f.String("key", "", "stranger: a key of nobody's; public: the issuer's public one, as the secret of HS256")
	header := f.String("header", "", "JSON to add to the header, or to replace it with null")
	pad := f.Int("pad", 0, "bytes to add to the claims")
	deep := f.Int("deep", 0, "levels to add to the claims")
	change := f.String("change", "", "replace in the claims when they are signed, OLD=>NEW")
	if err := f.Parse(c.args); err != nil {
		return err
	}
	p := c.issuers[*by]
	if p == nil || f.NArg() < 1 || f.NArg() > 2 {
		return errors.New("usage: jwt [FLAG…] VAR [CLAIMS], after issuer start")
	}
	more, heads := map[string]any{}, map[string]any{"kid": *kid}
	if f.NArg() == 2 {
		if err := json.Unmarshal([]byte(f.Arg(1)), &more); err != nil {
			return fmt.Errorf("the claims: %w", err)
		}
	}
	if *header != "" {
		if err := json.Unmarshal([]byte(*header), &heads); err != nil {
			return fmt.Errorf("the header: %w", err)
		}
	}
	if *pad > 0 {
		more["pad"] = strings.Repeat("x", *pad)
	}
	for range *deep {
		more["deep"] = map[string]any{"deep": more["deep"]}
	}
	token, err := sign(p, *alg, *kid, *key, heads, p.Claims(more))
	if err != nil {
		return err
	}
	if old, now, given := strings.Cut(*change, "=>"); given {
		parts := strings.Split(token, ".")
		claims, err := base64.RawURLEncoding.DecodeString(parts[1])
		if err != nil || !strings.Contains(string(claims), old) {
			return fmt.Errorf("the claims do not hold %q", old)
		}
		parts[1] = base64.RawURLEncoding.EncodeToString([]byte(strings.Replace(string(claims), old, now, 1)))
		token = strings.Join(parts, ".")
	}
	c.ts.Setenv(f.Arg(0), token)
	return nil
}

func sign(p *oidctest.Provider, alg, kid, key string, header, claims map[string]any) (string, error) {
	switch {
	case alg == "none":
		head, err1 := json.Marshal(map[string]any{"alg": "none"})
		body, err2 := json.Marshal(claims)
		b64 := base64.RawURLEncoding.EncodeToString
		return b64(head) + "." + b64(body) + ".", errors.Join(err1, err2)
	case key == "public":
		public, ok := p.Key(kid).(*rsa.PrivateKey)
		if !ok {
			return "", fmt.Errorf("there is no RSA key %s", kid)
		}
		der, err := x509.MarshalPKIXPublicKey(public.Public())
		if err != nil {
			return "", err
		}
		return oidctest.Sign(alg, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), header, claims), nil
	case key == "stranger":
		private, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			return "", err
		}
		if _, given := header["jwk"]; given {
			header["jwk"] = oidctest.JWK(private)
		}
		return oidctest.Sign(alg, private, header, claims), nil
	case key != "":
		return "", fmt.Errorf("there is no key of a %s", key)
	case p.Key(kid) == nil:
		return "", fmt.Errorf("the issuer has no key %s", kid)
	}
	return p.Sign(alg, kid, header, claims), nil
}
