package identity

import (
	"context"
	"fmt"
	"time"
)

// maxGrace is how long a rotated token may go on working.
const maxGrace = 90 * 24 * time.Hour

// RevokeToken ends a token of the user, or all; see [Admin].
func (s *Service) RevokeToken(ctx context.Context, actor Actor, user, id string) ([]Token, error) {
	var revoked []Token
	err := s.change(ctx, actor, change{"revoke-token", user, func(st state) (Change, error) {
		if st.account == nil {
			return Change{}, fmt.Errorf("%w: %s", ErrUserNotFound, user)
		}
		known := id == ""
		for _, t := range st.account.Tokens {
			if id != "" && t.ID != id {
				continue
			}
			known = true
			if t.live(st.now) == nil {
				t.Revoked = st.now
				revoked = append(revoked, t)
			}
		}
		if !known {
			return Change{}, fmt.Errorf("%w: user %s has none with id %s", ErrTokenNotFound, user, id)
		}
		return Change{Tokens: revoked}, nil
	}})
	if err != nil {
		return nil, fmt.Errorf("revoking token: %w", err)
	}
	return revoked, nil
}

// RotateToken replaces the user's default token; see [Admin].
func (s *Service) RotateToken(ctx context.Context, actor Actor, user string, grace time.Duration) (Secret, error) {
	if grace < 0 || grace > maxGrace {
		return "", fmt.Errorf("rotating token: %w: grace: %s is not between 0 and %s", ErrInvalid, grace, maxGrace)
	}
	var secret Secret
	err := s.change(ctx, actor, change{"rotate-token", user, func(st state) (Change, error) {
		if st.account == nil {
			return Change{}, fmt.Errorf("%w: %s", ErrUserNotFound, user)
		}
		if err := st.account.User.live(st.now); err != nil {
			return Change{}, fmt.Errorf("%w: a new token would not work: %w", ErrInvalid, err)
		}
		var c Change
		for _, t := range st.account.Tokens {
			if t.Name != DefaultToken || t.live(st.now) != nil {
				continue
			}
			if grace == 0 {
				t.Revoked = st.now
			} else {
				t.Expires = earlier(t.Expires, st.now.Add(precisely(grace)))
			}
			c.Tokens = append(c.Tokens, t)
		}
		var token NewToken
		secret, token = st.newToken(user)
		c.NewTokens = []NewToken{token}
		return c, nil
	}})
	if err != nil {
		return "", fmt.Errorf("rotating token: %w", err)
	}
	return secret, nil
}

func precisely(d time.Duration) time.Duration { return d.Truncate(time.Microsecond) }

// newToken makes a default token for the user.
func (st *state) newToken(user string) (Secret, NewToken) {
	secret, hash := newToken()
	return secret, NewToken{
		Token: Token{ID: hash.id(), User: user, Name: DefaultToken, Created: st.now},
		Hash:  hash,
	}
}
