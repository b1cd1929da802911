package agents

import (
	"context"

	"github.com/svc-gateway/svc/policy"
)

// Identity tells what a principal is now, as opposed to when its run started.
type Identity interface {
	// Resolve returns the principal with its present role, or an error that matches
	// [policy.ErrRevoked] or [policy.ErrExpired].
	Resolve(ctx context.Context, p policy.Principal) (policy.Principal, error)
	// Role is the present role of a user, or an error when there is no such user.
	Role(ctx context.Context, user string) (policy.Role, error)
}

// resolve is the principal as of now. One that acts for another user has the weaker role of
// the two.
func resolve(ctx context.Context, id Identity, p policy.Principal) (policy.Principal, error) {
	now, err := id.Resolve(ctx, p)
	if err != nil || p.OnBehalfOf == "" {
		return now, err
	}
	role, err := id.Role(ctx, p.OnBehalfOf)
	if err != nil {
		return policy.Principal{}, err
	}
	now.OnBehalfOf, now.Role = p.OnBehalfOf, policy.Weaker(now.Role, role)
	return now, nil
}
