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
// Principals of the operating system (sources none and os) have nothing here that could
// change. One who acts on behalf of somebody must still be an admin, and that somebody still
// be able to log in.
func (s *Service) Resolve(ctx context.Context, p policy.Principal) (policy.Principal, error) {
	now, is := time.Now(), p
	switch p.Source {
	case policy.SourceNone, policy.SourceOS:
		is.Role = policy.Admin // p.Role is the weaker one when acting for somebody
	case policy.SourceToken:
		var err error
		is, err = s.byID(ctx, p.TokenID, now)
		if errors.Is(err, ErrUnknown) || err == nil && is.User != p.User {
			return policy.Principal{}, fmt.Errorf("token %s of user %s: %w", p.TokenID, p.User, ErrRevoked)
		} else if err != nil {
			return policy.Principal{}, err
		}
	default:
		return policy.Principal{}, fmt.Errorf("principals of source %q: %w", p.Source, ErrRevoked)
	}
	is.Address = p.Address
	if p.OnBehalfOf == "" {
		return is, nil
	}
	is.OnBehalfOf = ""
	is, err := s.ActFor(ctx, is, p.OnBehalfOf)
	if errors.Is(err, ErrForbidden) || errors.Is(err, ErrUserNotFound) {
		return policy.Principal{}, fmt.Errorf("%w: %w", ErrRevoked, err)
	}
	return is, err
}

// ActFor returns p acting on behalf of the user, with the weaker role of the two and the
// earlier end. The own name and none change nothing. Only admins may ([ErrForbidden]), and
// only for users of this service ([ErrUserNotFound]) who may act themselves ([ErrRevoked],
// [ErrExpired]).
func (s *Service) ActFor(ctx context.Context, p policy.Principal, user string) (policy.Principal, error) {
	if user == "" || user == p.User {
		return p, nil
	}
	if !p.Role.May(policy.AdminAction) {
		return policy.Principal{}, fmt.Errorf("%w: only an admin may act on behalf of %q", ErrForbidden, user)
	}
	accounts, _, err := s.store.Accounts(ctx, Filter{Name: user})
	if err != nil {
		return policy.Principal{}, err
	}
	if len(accounts) == 0 {
		return policy.Principal{}, fmt.Errorf("%w: %q", ErrUserNotFound, user)
	}
	u := accounts[0].User
	if err := u.live(time.Now()); err != nil {
		return policy.Principal{}, err
	}
	p.OnBehalfOf = u.Name
	p.Role = policy.Weaker(p.Role, u.Role)
	p.Expires = earlier(p.Expires, u.Expires)
	return p, nil
}
