package identity

import (
	"context"
	"time"

	"github.com/svc-gateway/svc/policy"
)

// Actor is who makes a change.
type Actor = policy.Principal

// Admin is the management of users. [Service.As] gives it on the database of a service that is
// not running, [Client] on one that is. Errors wrap the sentinels of this package in both.
type Admin interface {
	// AddUser creates a user with a first token, which is returned once.
	AddUser(ctx context.Context, u AddUser) (User, Secret, error)
	// Users returns all users by name, with all tokens, revoked and expired ones included.
	Users(ctx context.Context) ([]Account, error)
	// UpdateUser changes what is set in u.
	UpdateUser(ctx context.Context, name string, u UpdateUser) (User, error)
	// RevokeToken ends a token of the user, or all when id is empty, and returns those that
	// worked until now. One that did not work any more is no error.
	RevokeToken(ctx context.Context, user, id string) ([]Token, error)
	// RotateToken replaces the user's tokens named "default" by a new one, which is returned
	// once. The old ones go on working for the grace; tokens of other names are not touched.
	RotateToken(ctx context.Context, user string, grace time.Duration) (Secret, error)
}

// AddUser is a user to be created.
type AddUser struct {
	// Name is 1 to 64 letters, digits and . _ @ -, the first a letter or digit.
	Name    string
	Role    policy.Role
	Expires time.Time // end of the account; zero is never. See [ParseExpiry].
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

func (a as) RevokeToken(ctx context.Context, user, id string) ([]Token, error) {
	return a.s.RevokeToken(ctx, a.actor, user, id)
}

func (a as) RotateToken(ctx context.Context, user string, grace time.Duration) (Secret, error) {
	return a.s.RotateToken(ctx, a.actor, user, grace)
}
