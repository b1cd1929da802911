package oidc

import (
	"context"
	"net/http"

	"github.com/golang-jwt/jwt/v5"
)

// UseTransport has all providers asked through t.
func (s *Set) UseTransport(t http.RoundTripper) {
	for _, i := range s.issuers {
		i.client.Transport = bounded{t}
	}
}

// Accepts reports whether one of the keys in a JWK set has signed the token.
func Accepts(doc []byte, token string) bool {
	keys, err := parseKeys(doc)
	if err != nil {
		return false
	}
	e := evaluation{raw: token}
	if e.checkForm(context.Background()) != nil {
		return false
	}
	e.method, e.keys = jwt.GetSigningMethod(e.header.text("alg")), choose(keys, e.header.text("alg"), "")
	return e.checkSignature(context.Background()) == nil
}
