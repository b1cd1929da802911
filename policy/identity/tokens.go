package identity

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/svc-gateway/svc/policy"
)

// maxGrace is how long a rotated token may go on working.
const maxGrace = 90 * 24 * time.Hour

var (
	tokenName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$`)
	tokenID   = regexp.MustCompile(`^[0-9a-f]{12}$`)
)

// checkTokenName refuses names that a command line or a table could not show as they are, or
// that look like ids, because a token is found by either.
func checkTokenName(name string) error {
	if !tokenName.MatchString(name) || tokenID.MatchString(name) {
		return fmt.Errorf("%w: name: %q is not a token name; want 1 to 64 letters, digits and . _ @ -, the first a letter or digit, and no 12 hexadecimal digits", ErrInvalid, name)
	}
	return nil
}

// AddToken gives a user one more token; see [Admin].
func (s *Service) AddToken(ctx context.Context, actor Actor, user string, t AddToken) (Token, Secret, error) {
	if err := checkTokenName(t.Name); err != nil {
		return Token{}, "", fmt.Errorf("adding token: %w", err)
	}
	var secret Secret
	var token NewToken
	err := s.change(ctx, actor, change{action: "add-token", user: user, plan: func(st state) (Change, error) {
		if err := st.takesToken(user); err != nil {
			return Change{}, err
		}
		if err := checkExpires(t.Expires, st.now); err != nil {
			return Change{}, err
		}
		if t.Role != "" {
			if err := checkRole(t.Role); err != nil {
				return Change{}, err
			}
			if policy.Weaker(t.Role, st.account.Role) != t.Role {
				return Change{}, fmt.Errorf("%w: role: a token of %s, whose role is %s, cannot have the role %s", ErrInvalid, user, st.account.Role, t.Role)
			}
		}
		if slices.ContainsFunc(st.account.Tokens, func(o Token) bool { return o.Name == t.Name && o.live(st.now) == nil }) {
			return Change{}, fmt.Errorf("%w: %s of user %s works; rotate it, or choose another name", ErrTokenExists, t.Name, user)
		}
		secret, token = st.newToken(user, t.Name)
		token.Role, token.Expires = t.Role, precise(t.Expires)
		return Change{NewTokens: []NewToken{token}}, nil
	}})
	if err != nil {
		return Token{}, "", fmt.Errorf("adding token: %w", err)
	}
	return token.Token, secret, nil
}

// RevokeToken ends a token of the user, or all; see [Admin].
func (s *Service) RevokeToken(ctx context.Context, actor Actor, user, token string) ([]Token, error) {
	var revoked []Token
	err := s.change(ctx, actor, change{action: "revoke-token", user: user, plan: func(st state) (Change, error) {
		revoked = nil
		if st.account == nil {
			return Change{}, fmt.Errorf("%w: %s", ErrUserNotFound, user)
		}
		chosen := st.account.Tokens
		if token != "" {
			if chosen = findTokens(chosen, token); len(chosen) == 0 {
				return Change{}, fmt.Errorf("%w: user %s has none with the name or id %s", ErrTokenNotFound, user, token)
			}
		}
		for _, t := range chosen {
			if t.live(st.now) == nil {
				t.Revoked = st.now
				revoked = append(revoked, t)
			}
		}
		if token == "" {
			return Change{Tokens: revoked, Users: []User{st.account.cutOff(st.now)}, Sessions: st.endAll()}, nil
		}
		return Change{Tokens: revoked, Sessions: st.endOf(revoked)}, nil
	}})
	if err != nil {
		return nil, fmt.Errorf("revoking token: %w", err)
	}
	return revoked, nil
}

// RotateToken replaces a token of the user; see [Admin].
func (s *Service) RotateToken(ctx context.Context, actor Actor, user, token string, grace time.Duration) (Token, Secret, error) {
	if grace < 0 || grace > maxGrace {
		return Token{}, "", fmt.Errorf("rotating token: %w: grace: %s is not between 0 and %s", ErrInvalid, grace, maxGrace)
	}
	var secret Secret
	var fresh NewToken
	err := s.change(ctx, actor, change{action: "rotate-token", user: user, plan: func(st state) (Change, error) {
		if err := st.takesToken(user); err != nil {
			return Change{}, err
		}
		if token == "" {
			token = DefaultToken
		}
		old := findTokens(st.account.Tokens, token)
		if len(old) == 0 && token != DefaultToken {
			return Change{}, fmt.Errorf("%w: user %s has none with the name or id %s", ErrTokenNotFound, user, token)
		}
		secret, fresh = st.newToken(user, DefaultToken)
		if len(old) > 0 {
			fresh.inherit(old[len(old)-1])
		}
		c := Change{NewTokens: []NewToken{fresh}}
		for _, t := range old {
			if t.live(st.now) != nil {
				continue
			}
			if grace == 0 {
				t.Revoked = st.now
			} else {
				t.Expires = earlier(t.Expires, st.now.Add(grace.Truncate(time.Microsecond)))
			}
			c.Tokens = append(c.Tokens, t)
		}
		if grace == 0 {
			c.Sessions = st.endOf(c.Tokens)
		}
		return c, nil
	}})
	if err != nil {
		return Token{}, "", fmt.Errorf("rotating token: %w", err)
	}
	return fresh.Token, secret, nil
}

// inherit makes t the successor of old: for the same purpose, and as long as old was made for.
func (t *NewToken) inherit(old Token) {
	t.Name, t.Role = old.Name, old.Role
	if !old.Expires.IsZero() {
		t.Expires = t.Created.Add(old.Expires.Sub(old.Created))
	}
}

// findTokens returns the tokens with the id or name, the newest last.
func findTokens(tokens []Token, which string) []Token {
	var found []Token
	for _, t := range tokens {
		if t.ID == which || t.Name == which {
			found = append(found, t)
		}
	}
	return found
}

// takesToken returns why a new token of the user would not work, or nil.
func (st *state) takesToken(user string) error {
	if st.account == nil {
		return fmt.Errorf("%w: %s", ErrUserNotFound, user)
	}
	if st.account.Source != "" {
		return fmt.Errorf("%w: %s is a user of source %s, which has no tokens here: log in for a session, or add a user for the purpose", ErrInvalid, user, st.account.Source)
	}
	if err := st.account.live(st.now); err != nil {
		return fmt.Errorf("%w: a new token would not work: %w", ErrInvalid, err)
	}
	return nil
}

// newToken makes a token for the user.
func (st *state) newToken(user, name string) (Secret, NewToken) {
	secret, hash := newToken()
	return secret, NewToken{
		Token: Token{ID: hash.id(), User: user, Name: name, Created: st.now},
		Hash:  hash,
	}
}

// endOf ends the live sessions that were opened with one of the tokens.
func (st *state) endOf(tokens []Token) []EndedSession {
	return st.end(func(x *StoredSession) bool {
		return slices.ContainsFunc(tokens, func(t Token) bool { return t.ID == x.TokenID })
	})
}
