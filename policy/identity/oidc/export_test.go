package oidc

import (
	"context"
	"crypto/sha256"
	"net/http"
	"strconv"
	"strings"

	"github.com/golang-jwt/jwt/v5"

	"github.com/svc-gateway/svc/policy/identity"
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

// CacheAfter is how many tokens are remembered, and their bytes, after n users came who are in a
// group with a name that long, each of them twice.
func CacheAfter(n, name int) (tokens, size int) {
	var c cache
	group := []string{strings.Repeat("g", name)}
	for i := range 2 * n {
		c.put(tokenID{hash: sha256.Sum256([]byte(strconv.Itoa(i / 2)))}, verifiedToken{external: identity.External{Groups: group}})
	}
	return len(c.m), c.size
}
