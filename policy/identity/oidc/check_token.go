package oidc

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/golang-jwt/jwt/v5"

	"github.com/svc-gateway/svc/internal/strictjson"
)

// maxToken is the largest token, in bytes. Providers that write hundreds of groups into one
// stay below.
const maxToken = 16 << 10

// maxKeyID is the longest name of a key that a provider is asked for.
const maxKeyID = 256

// checkForm takes the token apart: three parts, each of them in one way only.
func (e *evaluation) checkForm(context.Context) error {
	if len(e.raw) > maxToken {
		return refuse(codeMalformed, "The token is larger than %d bytes.", maxToken)
	}
	parts := strings.Split(e.raw, ".")
	if len(parts) != 3 {
		return refuse(codeMalformed, "The token is not a signed JWT: it has %d parts instead of 3.", len(parts))
	}
	var decoded [3][]byte
	for i, part := range parts {
		var err error
		// The decoder skips line ends, and a token with some would not be the one that was signed.
		if decoded[i], err = base64.RawURLEncoding.Strict().DecodeString(part); err != nil || strings.ContainsAny(part, "\r\n") {
			return refuse(codeMalformed, "The token is not a JWT: part %d is not base64url.", i+1)
		}
	}
	var err error
	if e.header, err = strictjson.Object(decoded[0]); err != nil {
		return refuse(codeMalformed, "The token's header is refused: %v.", err)
	}
	if e.claims, err = strictjson.Object(decoded[1]); err != nil {
		return refuse(codeMalformed, "The token's claims are refused: %v.", err)
	}
	e.signed, e.signature = e.raw[:len(parts[0])+1+len(parts[1])], decoded[2]
	e.found("a JWT of %d bytes", len(e.raw))
	return nil
}

// types are what the header may call a token, for each use (RFC 8725, 3.11).
var types = map[use][]string{
	forAPI:    {"", "jwt", "at+jwt"},
	forLogin:  {"", "jwt"},
	forLogout: {"", "jwt", "logout+jwt"},
}

// checkHeader refuses headers that would have the sender say how to check the token.
func (e *evaluation) checkHeader(context.Context) error {
	alg := e.header.text("alg")
	if !slices.Contains(algorithms, alg) {
		return refuse(codeInvalid, "The token's signature algorithm is not accepted; those are %s.", strings.Join(algorithms, ", "))
	}
	e.method = jwt.GetSigningMethod(alg)
	// crit asks for extensions that must be understood (RFC 7515, 4.1.11), and there are none.
	for _, name := range []string{"jwk", "x5u", "x5c", "crit", "b64", "zip", "enc"} {
		if _, ok := e.header[name]; ok {
			return refuse(codeInvalid, "The token's header holds %s, which is not accepted: keys come from the provider alone.", name)
		}
	}
	for _, name := range []string{"typ", "cty"} {
		v, given := e.header[name]
		if _, ok := v.(string); given && !ok {
			return refuse(codeInvalid, "The token's header has a %s that is not a string.", name)
		}
	}
	typ := strings.TrimPrefix(strings.ToLower(e.header.text("typ")), "application/")
	if !slices.Contains(types[e.use], typ) {
		return refuse(codeInvalid, "The token is of a type that is not for this use.")
	}
	if kid, given := e.header["kid"]; given {
		if text, ok := kid.(string); !ok || text == "" || len(text) > maxKeyID {
			return refuse(codeInvalid, "The token's header has a kid that is not the name of a key.")
		}
	}
	e.found("alg %s, kid %q, typ %q", alg, e.header.text("kid"), e.header.text("typ"))
	return nil
}

// checkIssuer finds the provider that the token says it comes from.
func (e *evaluation) checkIssuer(context.Context) error {
	iss := e.claims.text("iss")
	e.issuer = e.set.byURL(iss)
	if iss == "" || e.issuer == nil {
		return errForeign
	}
	if e.only != nil && e.issuer != e.only {
		return refuse(codeInvalid, "The token comes from another provider.")
	}
	e.found("%s (%s)", e.issuer.Name, iss)
	return nil
}

// findKeys finds the keys that may have signed the token. One that is not known may be new: the
// provider is asked again, but not for everyone who makes up a name.
func (e *evaluation) findKeys(ctx context.Context) error {
	var err error
	if e.state, err = e.issuer.current(ctx); err != nil {
		return err
	}
	alg, kid := e.method.Alg(), e.header.text("kid")
	if e.keys = choose(e.state.keys, alg, kid); len(e.keys) == 0 {
		if e.state, err = e.issuer.renewed(ctx, e.state); err != nil {
			return err
		}
		e.keys = choose(e.state.keys, alg, kid)
	}
	// Some providers repeat where their keys are. Nobody else may say so.
	if jku, given := e.header["jku"]; given && jku != any(e.state.JWKS) {
		return refuse(codeInvalid, "The token's header holds jku, which is not accepted: keys come from the provider alone.")
	}
	if len(e.keys) == 0 {
		return refuse(codeInvalid, "The provider has no key of that name and kind: the token was signed with another, or with one that is withdrawn.")
	}
	e.found("%d of %d keys of %s", len(e.keys), len(e.state.keys), e.state.JWKS)
	return nil
}

func (e *evaluation) checkSignature(context.Context) error {
	for _, k := range e.keys {
		if e.method.Verify(e.signed, e.signature, k.public) == nil {
			e.found("made with the key %q", k.id)
			return nil
		}
	}
	return refuse(codeInvalid, "The token's signature is wrong.")
}
