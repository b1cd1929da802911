package identity

import (
	"context"
	"time"

	"github.com/svc-gateway/svc/policy"
)

// Actor is who makes a change.
type Actor = policy.Principal

// Admin is the management of users. [Service.As] gives it on the database of a service that is
// not running, package adminapi on one that is. Errors wrap the sentinels of this package in both.
type Admin interface {
	// AddUser creates a user with a first token, which is returned once.
	AddUser(ctx context.Context, u AddUser) (User, Secret, error)
	// Users returns all users by name, with all tokens, revoked and expired ones included.
	Users(ctx context.Context) ([]Account, error)
	// UpdateUser changes what is set in u.
	UpdateUser(ctx context.Context, name string, u UpdateUser) (User, error)
	// RemoveUser ends all that a user has and takes it off the list. The name is kept from
	// others; AddUser gives it to a new user, an external user gets it back with a new login.
	RemoveUser(ctx context.Context, name string) (User, error)
	// AddToken gives a user of this service one more token, which is returned once.
	AddToken(ctx context.Context, user string, t AddToken) (Token, Secret, error)
	// RevokeToken ends the tokens of the user with the id or name, and returns those that worked
	// until now; one that did not is no error. An empty one means all tokens, together with all
	// sessions and what external credentials from before give.
	RevokeToken(ctx context.Context, user, token string) ([]Token, error)
	// RotateToken replaces the user's tokens with the id or name, "default" when that is empty,
	// by a new one with the same name, role and span of life, which is returned once. The old
	// ones go on working for the grace; other tokens are not touched.
	RotateToken(ctx context.Context, user, token string, grace time.Duration) (Token, Secret, error)
	// Sessions returns the live sessions of the user, of all for an empty name, the oldest of
	// each user first.
	Sessions(ctx context.Context, user string) ([]Session, error)
	// EndSessions ends a session of the user, or all for an empty id, and returns those that
	// ended; see [Service.Logout].
	EndSessions(ctx context.Context, user, id string) ([]Session, error)
	// Lockouts returns the lockouts that last, by user and address.
	Lockouts(ctx context.Context) ([]Lockout, error)
	// Unlock ends the lockouts of a user, or those of an address, and returns them; none is no
	// error.
	Unlock(ctx context.Context, who string) ([]Lockout, error)
}

// AddUser is a user to be created.
type AddUser struct {
	// Name is 1 to 64 letters, digits and . _ @ -, the first a letter or digit.
	Name    string
	Role    policy.Role
	Expires time.Time // end of the account; zero is never. See [ParseExpiry].
}

// AddToken is a token to be created.
type AddToken struct {
	Name    string      // what it is for; the form of a user name, but not that of a token's id
	Role    policy.Role // at most the user's; empty: the user's, whatever that will be
	Expires time.Time   // zero is never. See [ParseExpiry].
}

// UpdateUser is what to change of a user; nil leaves it.
type UpdateUser struct {
	Role     *policy.Role
	Disabled *bool
	Expires  *time.Time // zero is never
}

// As returns the management of users in the name of the actor.
func (s *Service) As(actor Actor) Admin { return as{s, actor} }

type as struct {
	s     *Service
	actor Actor
}

func (a as) AddUser(ctx context.Context, u AddUser) (User, Secret, error) {
	return a.s.AddUser(ctx, a.actor, u)
}

func (a as) Users(ctx context.Context) ([]Account, error) { return a.s.Users(ctx) }

func (a as) UpdateUser(ctx context.Context, name string, u UpdateUser) (User, error) {
	return a.s.UpdateUser(ctx, a.actor, name, u)
}

func (a as) RemoveUser(ctx context.Context, name string) (User, error) {
	return a.s.RemoveUser(ctx, a.actor, name)
}

func (a as) AddToken(ctx context.Context, user string, t AddToken) (Token, Secret, error) {
	return a.s.AddToken(ctx, a.actor, user, t)
}

func (a as) RevokeToken(ctx context.Context, user, token string) ([]Token, error) {
	return a.s.RevokeToken(ctx, a.actor, user, token)
}

func (a as) RotateToken(ctx context.Context, user, token string, grace time.Duration) (Token, Secret, error) {
	return a.s.RotateToken(ctx, a.actor, user, token, grace)
}

func (a as) Sessions(ctx context.Context, user string) ([]Session, error) {
	return a.s.Sessions(ctx, user)
}

func (a as) EndSessions(ctx context.Context, user, id string) ([]Session, error) {
	return a.s.Logout(ctx, a.actor, user, id)
}

func (a as) Lockouts(ctx context.Context) ([]Lockout, error) { return a.s.Lockouts(ctx) }

func (a as) Unlock(ctx context.Context, who string) ([]Lockout, error) {
	return a.s.Unlock(ctx, a.actor, who)
}
