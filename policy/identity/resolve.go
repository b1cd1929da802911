package identity

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/svc-gateway/svc/policy"
)

// Resolve returns the principal as of now: the role may have changed. It returns [ErrRevoked]
// or [ErrExpired] (those of package policy) for one that may not act any more, and a technical
// error when that cannot be found out: refuse then too.
//
// A token must work still, a session not have ended, an external user have an account that is
// not cut off; a directory or identity provider is asked again, within what [Directory] and
// [Upstream] say about when. What came with a JWT or a certificate is judged by the settings of now.
// Principals of the operating system (sources none and os) have nothing here that could change. One who
// acts on behalf of somebody must still be an admin, and that somebody still be able to log in.
func (s *Service) Resolve(ctx context.Context, p policy.Principal) (policy.Principal, error) {
	is, err := s.asOfNow(ctx, p)
	if err != nil {
		return policy.Principal{}, err
	}
	is.Address, is.RequestID = p.Address, p.RequestID
	if p.OnBehalfOf == "" {
		return is, nil
	}
	is.OnBehalfOf = ""
	is, err = s.ActFor(ctx, is, p.OnBehalfOf)
	if errors.Is(err, ErrForbidden) || errors.Is(err, ErrUserNotFound) {
		return policy.Principal{}, fmt.Errorf("%w: %w", ErrRevoked, err)
	}
	return is, err
}

// asOfNow resolves the one who acts, whomever for.
func (s *Service) asOfNow(ctx context.Context, p policy.Principal) (policy.Principal, error) {
	is, now := p, time.Now()
	if p.OnBehalfOf != "" {
		is.Role = policy.Admin // p.Role is the weaker one of the two; only admins act for somebody
	}
	if p.Source == policy.SourceNone || p.Source == policy.SourceOS {
		is.Role = policy.Admin
		return is, nil
	}
	if err := s.fresh(ctx, now); err != nil {
		return policy.Principal{}, err
	}
	if p.SessionID == "" && p.Source != policy.SourceToken {
		return s.resolveExternal(ctx, is, now)
	}
	var err error
	if p.SessionID != "" {
		is, err = s.resolveByID(ctx, p.SessionID, s.store.SessionByID, now)
	} else {
		is, err = s.resolveByID(ctx, p.TokenID, s.store.ByID, now)
	}
	if errors.Is(err, ErrUnknown) || err == nil && (is.User != p.User || is.Source != p.Source || is.TokenID != p.TokenID) {
		return policy.Principal{}, fmt.Errorf("session %q or token %q of user %s: %w", p.SessionID, p.TokenID, p.User, ErrRevoked)
	}
	return is, err
}

// resolveExternal resolves somebody from outside who has neither token nor session here.
func (s *Service) resolveExternal(ctx context.Context, p policy.Principal, now time.Time) (policy.Principal, error) {
	a, err := s.named(ctx, p.User)
	if err != nil {
		return policy.Principal{}, err
	}
	if a == nil || a.Source == "" || a.Source != p.Source {
		return policy.Principal{}, fmt.Errorf("principals of source %q: user %q: %w", p.Source, p.User, ErrRevoked)
	}
	if err := errors.Join(a.live(now), a.accepts(p.Issued)); err != nil {
		return policy.Principal{}, err
	}
	if !p.Expires.IsZero() && !now.Before(p.Expires) {
		return policy.Principal{}, ErrExpired
	}
	p.Expires = earlier(p.Expires, a.Expires)
	if p.Source == policy.SourceLDAP {
		return s.lookup(ctx, p, a.Subject)
	}
	return s.asSettingsSay(p, a.Link)
}

// ActFor returns p acting on behalf of the user, with the weaker role of the two and the
// earlier end; of an external user the role at the last login counts. The own name and none
// change nothing. Only admins may ([ErrForbidden]), and only for users of this service
// ([ErrUserNotFound]) who may act themselves ([ErrRevoked], [ErrExpired]).
func (s *Service) ActFor(ctx context.Context, p policy.Principal, user string) (policy.Principal, error) {
	if user == "" || user == p.User {
		return p, nil
	}
	if !p.Role.May(policy.AdminAction) {
		return policy.Principal{}, fmt.Errorf("%w: only an admin may act on behalf of %q", ErrForbidden, user)
	}
	now := time.Now()
	if err := s.fresh(ctx, now); err != nil {
		return policy.Principal{}, err
	}
	u, err := s.named(ctx, user)
	if err != nil {
		return policy.Principal{}, err
	}
	if u == nil || !u.Removed.IsZero() {
		return policy.Principal{}, fmt.Errorf("%w: %q", ErrUserNotFound, user)
	}
	if err := u.live(now); err != nil {
		return policy.Principal{}, err
	}
	p.OnBehalfOf = u.Name
	p.Role = policy.Weaker(p.Role, u.Role)
	p.Expires = earlier(p.Expires, u.Expires)
	return p, nil
}
