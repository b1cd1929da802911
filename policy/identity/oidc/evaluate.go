package oidc

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/svc-gateway/svc/policy/identity"
)

// use is what a token is sent for. A token for one use is no good for another (RFC 8725, 3.12).
type use int

const (
	forAPI    use = iota // in Authorization: Bearer
	forLogin             // an ID token, straight from the provider
	forLogout            // a logout token, sent by the provider
)

// evaluation is the look at one token. The checks fill it in, one after the other.
type evaluation struct {
	set   *Set
	use   use
	only  *issuer // the one that it must come from; nil: any of the set
	nonce string  // forLogin: what it must hold; empty: nothing was asked for
	// resource is what is asked for, if a token may be made for it alone (RFC 8707).
	resource string
	// access is the access token that the provider's userinfo is asked with.
	access string
	raw    string
	now    time.Time

	header    claims
	claims    claims
	method    jwt.SigningMethod
	signed    string // what the signature is over
	signature []byte
	issuer    *issuer
	state     *state
	keys      []key
	external  identity.External

	report *identity.Report // nil: nobody wants to know
	detail string           // of the check that is under way
}

// check is one criterion. Its error is a [*identity.Refused] when the token is no good.
type check struct {
	name string
	run  func(*evaluation, context.Context) error
}

var (
	tokenChecks = []check{
		{"form", (*evaluation).checkForm},
		{"issuer", (*evaluation).checkIssuer},
		{"header", (*evaluation).checkHeader},
		{"keys", (*evaluation).findKeys},
		{"signature", (*evaluation).checkSignature},
		{"times", (*evaluation).checkTimes},
		{"audience", (*evaluation).checkAudience},
		{"kind", (*evaluation).checkKind},
	}
	userChecks = []check{
		{"userinfo", (*evaluation).askUserInfo},
		{"user", (*evaluation).findUser},
		{"role", (*evaluation).findRole},
	}
)

// errForeign means that a token comes from nobody we know. It is no error of ours.
var errForeign = errors.New("a token of an unknown issuer")

// token runs the checks of the token itself.
func (e *evaluation) token(ctx context.Context) error { return e.all(ctx, tokenChecks) }

// user runs the checks that make a user of the token's claims.
func (e *evaluation) user(ctx context.Context) error { return e.all(ctx, userChecks) }

func (e *evaluation) all(ctx context.Context, checks []check) error {
	for _, c := range checks {
		started := time.Now()
		e.detail = ""
		err := c.run(e, ctx)
		if refused, ok := errors.AsType[*identity.Refused](err); ok {
			refused.Reason = c.name
		}
		if e.report != nil {
			e.report.Add(c.name, e.detail, err, time.Since(started))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// found says what a check looked at, for who wants to know.
func (e *evaluation) found(format string, args ...any) {
	if e.report != nil {
		e.detail = fmt.Sprintf(format, args...)
	}
}

// refuse is the error of a token that is no good. The code is for programs.
func refuse(code, format string, args ...any) error {
	return &identity.Refused{Status: http.StatusUnauthorized, Code: code, Detail: fmt.Sprintf(format, args...)}
}

// The codes of refused tokens, beside those of our own tokens.
const (
	codeMalformed = "token_malformed"
	codeInvalid   = "token_invalid"
	codeExpired   = "token_expired"
	codeNoRole    = "no_role"
)
