package identity

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/svc-gateway/svc/policy"
)

// Users returns all users by name, with all tokens.
func (s *Service) Users(ctx context.Context) ([]Account, error) {
	accounts, _, err := s.store.Accounts(ctx, Filter{})
	return slices.DeleteFunc(accounts, func(a Account) bool { return !a.Removed.IsZero() }), err
}

// Since is when the user of a name was made; the zero time when there is none. What is kept under the name from
// before that time belonged to somebody else, who was removed.
func (s *Service) Since(ctx context.Context, name string) (time.Time, error) {
	a, err := s.account(s.store.ByName(ctx, name)) // what the cache has may be the earlier one, for a moment
	if err != nil || a == nil || !a.Removed.IsZero() {
		return time.Time{}, err
	}
	return a.Created, nil
}

// AddUser creates a user with a first token; see [Admin].
func (s *Service) AddUser(ctx context.Context, actor Actor, u AddUser) (User, Secret, error) {
	if err := checkUserName(u.Name); err != nil {
		return User{}, "", err
	}
	if err := checkRole(u.Role); err != nil {
		return User{}, "", err
	}
	var added User
	var secret Secret
	err := s.change(ctx, actor, change{action: "add-user", user: u.Name, plan: func(st state) (Change, error) {
		if st.account != nil {
			return Change{}, fmt.Errorf("%w: %s", ErrUserExists, u.Name)
		}
		if err := checkExpires(u.Expires, st.now); err != nil {
			return Change{}, err
		}
		added = User{Name: u.Name, Role: u.Role, Created: st.now, Expires: precise(u.Expires)}
		if st.removed {
			added.ValidAfter = st.now // nothing of the earlier user of that name counts
		}
		var token NewToken
		secret, token = st.newToken(u.Name, DefaultToken)
		return Change{Users: []User{added}, NewTokens: []NewToken{token}}, nil
	}})
	if err != nil {
		return User{}, "", fmt.Errorf("adding user: %w", err)
	}
	return added, secret, nil
}

// UpdateUser changes role, end or disabledness of a user; see [Admin].
func (s *Service) UpdateUser(ctx context.Context, actor Actor, name string, u UpdateUser) (User, error) {
	var updated User
	err := s.change(ctx, actor, change{action: "update-user", user: name, plan: func(st state) (Change, error) {
		if st.account == nil {
			return Change{}, fmt.Errorf("%w: %s", ErrUserNotFound, name)
		}
		updated = st.account.User
		if u.Role != nil {
			if err := checkRole(*u.Role); err != nil {
				return Change{}, err
			}
			if updated.Source != "" {
				return Change{}, fmt.Errorf("%w: role: that of %s comes from the source %s: change what it says, or what that maps to", ErrInvalid, name, updated.Source)
			}
			updated.Role = *u.Role
		}
		if u.Disabled != nil {
			updated.Disabled = *u.Disabled
		}
		if u.Expires != nil {
			if err := checkExpires(*u.Expires, st.now); err != nil {
				return Change{}, err
			}
			updated.Expires = precise(*u.Expires)
		}
		c := Change{Users: []User{updated}}
		if updated.Disabled {
			c.Sessions = st.endAll()
		}
		return c, nil
	}})
	if err != nil {
		return User{}, fmt.Errorf("updating user: %w", err)
	}
	return updated, nil
}

// RemoveUser removes a user; see [Admin].
func (s *Service) RemoveUser(ctx context.Context, actor Actor, name string) (User, error) {
	var removed User
	err := s.change(ctx, actor, change{action: "remove-user", user: name, plan: func(st state) (Change, error) {
		if st.account == nil {
			return Change{}, fmt.Errorf("%w: %s", ErrUserNotFound, name)
		}
		removed = st.account.cutOff(st.now)
		removed.Removed, removed.Disabled = st.now, false
		c := Change{Users: []User{removed}, Sessions: st.endAll()}
		for _, t := range st.account.Tokens {
			if t.Revoked.IsZero() {
				t.Revoked = st.now
				c.Tokens = append(c.Tokens, t)
			}
		}
		return c, nil
	}})
	if err != nil {
		return User{}, fmt.Errorf("removing user: %w", err)
	}
	return removed, nil
}

// Bootstrap makes the user admin when this service has no admin of its own yet, and returns its
// token: the only time that it can be seen. Otherwise created is false.
func (s *Service) Bootstrap(ctx context.Context) (secret Secret, created bool, err error) {
	accounts, _, err := s.store.Accounts(ctx, Filter{Role: policy.Admin})
	if err != nil {
		return "", false, fmt.Errorf("looking for users: %w", err)
	}
	if slices.ContainsFunc(accounts, func(a Account) bool { return a.Source == "" && a.Removed.IsZero() }) {
		return "", false, nil
	}
	_, secret, err = s.AddUser(ctx, OSPrincipal(os.Getuid()), AddUser{Name: "admin", Role: policy.Admin})
	if errors.Is(err, ErrUserExists) || errors.Is(err, ErrConflict) {
		return "", false, nil // another process was first
	}
	return secret, err == nil, err
}

func checkRole(r policy.Role) error {
	if _, err := policy.ParseRole(string(r)); err != nil {
		return fmt.Errorf("%w: role: %w", ErrInvalid, err)
	}
	return nil
}

func checkExpires(end, now time.Time) error {
	if end.IsZero() {
		return nil
	}
	_, err := checkEnd(end.Format(time.RFC3339), end, now)
	return err
}

// precise cuts a time to what the store keeps.
func precise(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.UTC().Truncate(time.Microsecond)
}
