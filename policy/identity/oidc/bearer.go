package oidc

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/svc-gateway/svc/internal/credentials"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

// userInfoLife is how long what the userinfo endpoint said of a token counts.
const userInfoLife = 5 * time.Minute

// Admit makes a user of somebody whom a provider vouches for; [identity.Service.Admit] does.
type Admit func(context.Context, identity.External) (policy.Principal, error)

// NewBearer returns the provider of auth.mode oidc for requests with a JWT in Authorization:
// Bearer. A token of an issuer that is not in the set is not its own. resource names what a request is
// for, which a token may be made for alone; it is empty, or nil, where there is no such thing. Nothing
// that a client says may be in it.
func NewBearer(s *Set, admit Admit, resource func(*http.Request) string) identity.Provider {
	if resource == nil {
		resource = func(*http.Request) string { return "" }
	}
	return bearer{s, admit, resource}
}

type bearer struct {
	set      *Set
	admit    Admit
	resource func(*http.Request) string
}

func (bearer) Name() string { return "oidc" }

// Challenge asks for a Bearer token (RFC 6750).
func (bearer) Challenge() string { return `Bearer realm="svc"` }

func (b bearer) Authenticate(r *http.Request) (policy.Principal, identity.Outcome, error) {
	raw, several := findJWT(r.Header)
	switch {
	case several:
		return policy.Principal{}, identity.No, errConflict
	case raw == "":
		return policy.Principal{}, identity.NotMine, nil
	}
	external, foreign, err := b.set.verify(r.Context(), raw, b.resource(r))
	if foreign {
		return policy.Principal{}, identity.NotMine, err
	}
	if err != nil {
		return policy.Principal{}, identity.No, err
	}
	p, err := b.admit(r.Context(), external)
	if err != nil {
		return policy.Principal{}, identity.No, refuseAccount(err)
	}
	return p, identity.Yes, nil
}

// findJWT returns the Bearer token if it could be a JWT. Tokens of ours have no dots.
func findJWT(h http.Header) (token string, several bool) {
	all := h.Values("Authorization")
	for _, a := range all {
		if value, ok := credentials.Bearer(a); ok && strings.Count(value, ".") >= 2 {
			token = value
		}
	}
	return token, token != "" && len(all) > 1
}

// verify returns whom a bearer token is about. It is foreign when nothing in it says that it is
// of an issuer of the set.
func (s *Set) verify(ctx context.Context, raw, resource string) (x identity.External, foreign bool, err error) {
	now, id := time.Now(), tokenID{sha256.Sum256([]byte(raw)), resource}
	if x, ok := s.tokens.get(ctx, id, now); ok {
		return x, false, nil
	}
	e := evaluation{set: s, use: forAPI, resource: resource, raw: raw, access: raw, now: now}
	if err = e.token(ctx); err == nil {
		err = e.user(ctx)
	}
	if errors.Is(err, errForeign) {
		return x, true, errUnknownIssuer
	}
	if err != nil {
		return x, e.issuer == nil, err
	}
	until := e.external.Expires
	if life := now.Add(userInfoLife); e.issuer.UserInfo && life.Before(until) {
		until = life
	}
	s.tokens.put(id, verifiedToken{e.issuer, e.state, e.external, until})
	return e.external, false, nil
}

// refuseAccount turns an error about somebody's account here into a refusal; technical ones stay
// as they are.
func refuseAccount(err error) error {
	for _, x := range accounts {
		if errors.Is(err, x.err) {
			return x.refused
		}
	}
	return identity.RefusePerson(err)
}

var accounts = []struct {
	err     error
	refused *identity.Refused
}{
	{identity.ErrRevoked, &identity.Refused{
		Status: http.StatusUnauthorized, Code: "token_revoked", Reason: "revoked",
		Detail: "The token was revoked, or its user disabled.",
	}},
	{identity.ErrExpired, &identity.Refused{
		Status: http.StatusUnauthorized, Code: codeExpired, Reason: "expired",
		Detail: "The token or its user's account has expired.",
	}},
}

var (
	errConflict = &identity.Refused{
		Status: http.StatusUnauthorized, Code: "credentials_conflict", Reason: "conflict",
		Detail: "The request holds more than one Authorization header: send one.",
	}
	errUnknownIssuer = &identity.Refused{
		Status: http.StatusUnauthorized, Code: codeInvalid, Reason: "issuer",
		Detail: "The token comes from an issuer that is not known here.",
	}
)
