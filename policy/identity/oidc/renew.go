package oidc

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

// Renew asks the provider of a session whether it goes on, with the session's refresh token. The
// provider may send another one, and who the user is now; where it does not, what it said at the
// login counts, with the userinfo of now. Without a refresh token nobody is asked: what was said at
// the login is judged by the settings of now. It implements [identity.Renewer].
func (s *Set) Renew(ctx context.Context, u identity.Upstream) (identity.External, identity.Upstream, error) {
	i := s.byURL(u.Issuer)
	if i == nil {
		return identity.External{}, u, fmt.Errorf("%s is no longer a provider here: %w", u.Issuer, identity.ErrRevoked)
	}
	if u.Refresh == "" {
		return s.rejudge(ctx, i, u)
	}
	known, err := i.current(ctx)
	if err != nil {
		return identity.External{}, u, err
	}
	ctx = gooidc.ClientContext(ctx, i.client)
	old := u.Refresh
	token, err := i.oauth(known, "").TokenSource(ctx, &oauth2.Token{RefreshToken: s.rotated.latest(old).Reveal()}).Token()
	if err != nil {
		return identity.External{}, u, i.tokenError(err, fmt.Errorf("%s no longer renews it: %w", i.URL, identity.ErrRevoked))
	}
	i.accepts(nil)
	now := time.Now()
	u.Refresh, u.Due = identity.Secret(token.RefreshToken), due(token, now)
	e := evaluation{set: s, use: forLogin, only: i, issuer: i, state: known, access: token.AccessToken, now: now}
	if raw, ok := token.Extra("id_token").(string); ok {
		e.raw = raw
		u.IDToken = identity.Secret(raw)
		err = e.person(ctx)
	} else {
		e.raw = u.IDToken.Reveal()
		err = e.again(ctx)
	}
	err = outOfRole(err)
	if err == nil && e.external.Subject != u.Subject {
		err = fmt.Errorf("%s answers for somebody else: %w", i.URL, identity.ErrRevoked)
	}
	s.rotated.set(old, u.Refresh, err != nil) // the caller keeps the old one, which may be used up
	return e.external, u, err
}

// RoleOf returns the role that groups give now at a provider of the set. It implements
// [identity.Renewer].
func (s *Set) RoleOf(issuer string, groups []string) policy.Role {
	if i := s.byURL(issuer); i != nil {
		return role(i.Issuer, groups)
	}
	return ""
}

// How long a session goes on before the provider is asked again.
const (
	minRenewal = time.Minute
	maxRenewal = time.Hour
	ownRenewal = 5 * time.Minute // where there is nothing to ask with
)

// due is when a session has to be renewed: with the end of the access token.
func due(t *oauth2.Token, now time.Time) time.Time {
	life := maxRenewal
	if !t.Expiry.IsZero() {
		life = min(max(t.Expiry.Sub(now), minRenewal), maxRenewal)
	}
	return now.Add(life)
}

// rejudge renews a session that the provider cannot be asked about.
func (s *Set) rejudge(ctx context.Context, i *issuer, u identity.Upstream) (identity.External, identity.Upstream, error) {
	if i.UserInfo {
		return identity.External{}, u, fmt.Errorf("the userinfo of %s cannot be asked without a refresh token: %w", i.URL, identity.ErrRevoked)
	}
	e := evaluation{set: s, use: forLogin, only: i, issuer: i, raw: u.IDToken.Reveal(), now: time.Now()}
	err := outOfRole(e.again(ctx))
	u.Due = e.now.Add(ownRenewal)
	return e.external, u, err
}

// outOfRole turns the refusal of somebody without a role into [identity.ErrNoRole].
func outOfRole(err error) error {
	if refused, ok := errors.AsType[*identity.Refused](err); ok && refused.Code == codeNoRole {
		return fmt.Errorf("%w: %s", identity.ErrNoRole, refused.Detail)
	}
	return err
}

// again makes a user of an ID token that was judged when it came. It may have ended since.
func (e *evaluation) again(ctx context.Context) error {
	if err := e.checkForm(ctx); err != nil {
		return err
	}
	return e.user(ctx)
}

// maxRotated is how many refresh tokens are remembered.
const maxRotated = 10_000

// rotations are refresh tokens that came for others, where something failed afterwards and the
// session still has the other one.
type rotations struct {
	mu sync.Mutex
	m  map[identity.Secret]identity.Secret // new ones by old ones
}

// latest returns the refresh token to use instead of the old one: itself, if no other came.
func (r *rotations) latest(old identity.Secret) identity.Secret {
	r.mu.Lock()
	defer r.mu.Unlock()
	if next, ok := r.m[old]; ok {
		return next
	}
	return old
}

// set remembers what came for the old refresh token, or forgets it when nobody needs it.
func (r *rotations) set(old, next identity.Secret, needed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !needed {
		delete(r.m, old)
		return
	}
	if r.m == nil || len(r.m) >= maxRotated {
		r.m = map[identity.Secret]identity.Secret{}
	}
	r.m[old] = next
}
