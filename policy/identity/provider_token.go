package identity

import (
	"context"
	"net/http"

	"github.com/svc-gateway/svc/internal/credentials"
	"github.com/svc-gateway/svc/policy"
)

const apiKeyHeader = "X-Api-Key"

// NewTokenProvider returns the provider of auth.mode token, which takes the sessions of API
// clients as well. A token is sent as "Authorization: Bearer <token>" or as x-api-key; an
// x-api-key that has not the form of our tokens is somebody else's and left alone. Two different
// credentials are refused.
func NewTokenProvider(s *Service) Provider { return tokenProvider{"token", s.Verify} }

// NewAPISessionProvider returns the provider of the sessions of API clients and nothing else, for
// where people log in and tokens are not taken. They are sent as tokens are.
func NewAPISessionProvider(s *Service) Provider {
	return tokenProvider{"session", func(ctx context.Context, secret string) (policy.Principal, error) {
		return s.Session(ctx, secret, APISession)
	}}
}

type tokenProvider struct {
	name   string
	verify func(ctx context.Context, secret string) (policy.Principal, error)
}

func (p tokenProvider) Name() string { return p.name }

// Challenge asks for a Bearer token (RFC 6750).
func (tokenProvider) Challenge() string { return `Bearer realm="svc"` }

func (p tokenProvider) Authenticate(r *http.Request) (policy.Principal, Outcome, error) {
	token, outcome, err := findToken(r.Header)
	if outcome != Yes {
		return policy.Principal{}, outcome, err
	}
	principal, err := p.verify(r.Context(), token)
	if err != nil {
		return policy.Principal{}, No, refuseToken(err)
	}
	return principal, Yes, nil
}

// findToken returns the one token that the headers hold, with the outcome Yes. What is meant
// to be a token of ours counts, also when it is mangled.
func findToken(h http.Header) (string, Outcome, error) {
	authorization, keys := h.Values("Authorization"), h.Values(apiKeyHeader)
	if len(authorization) > 1 {
		return "", No, errConflict
	}
	token, foreign := "", false
	if len(authorization) == 1 {
		value, isBearer := credentials.Bearer(authorization[0])
		switch {
		case isBearer && claimsToBeToken(value):
			token = value
		default:
			foreign = true
		}
	}
	for _, key := range keys {
		if !IsToken(key) {
			continue
		}
		if token != "" && token != key {
			return "", No, errConflict
		}
		token = key
	}
	switch {
	case token != "":
		return token, Yes, nil
	case foreign:
		return "", NotMine, errUnrecognised
	}
	return "", NotMine, nil
}

var (
	errConflict = &Refused{
		Status: http.StatusUnauthorized, Code: "credentials_conflict", Reason: "conflict",
		Detail: "The request holds two different credentials: send one, in Authorization or in x-api-key.",
	}
	errUnrecognised = &Refused{
		Status: http.StatusUnauthorized, Code: "credentials_unrecognised", Reason: "unrecognised",
		Detail: "The Authorization header holds no token of this service: want Authorization: Bearer svc_...",
	}
	tokenRefusals = refusals{
		{ErrMalformed, &Refused{
			Status: http.StatusUnauthorized, Code: "token_malformed", Reason: "malformed",
			Detail: "The token is incomplete or mistyped: its checksum does not fit.",
		}},
		{ErrUnknown, &Refused{
			Status: http.StatusUnauthorized, Code: "token_unknown", Reason: "unknown",
			Detail: "The token is not known to this service.",
		}},
		{ErrRevoked, &Refused{
			Status: http.StatusUnauthorized, Code: "token_revoked", Reason: "revoked",
			Detail: "The token was revoked, or its user disabled.",
		}},
		{ErrExpired, &Refused{
			Status: http.StatusUnauthorized, Code: "token_expired", Reason: "expired",
			Detail: "The token or its user's account has expired; ask an admin for a new one.",
		}},
	}
)

// refuseToken turns an error of Verify into a refusal; technical ones stay as they are.
func refuseToken(err error) error { return tokenRefusals.of(err) }

// Strip removes the credentials that the providers of this package take from the headers of a
// request that goes to somebody else's server. Credentials of others stay.
func Strip(h http.Header) {
	for _, a := range h.Values("Authorization") {
		if value, ok := credentials.Bearer(a); ok && claimsToBeToken(value) {
			h.Del("Authorization")
			break
		}
	}
	for _, key := range h.Values(apiKeyHeader) {
		if IsToken(key) {
			h.Del(apiKeyHeader)
			break
		}
	}
}
