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
	// ActFor returns the principal acting on behalf of a user, with the weaker role of the
	// two. The own name and none change nothing.
	ActFor(ctx context.Context, p policy.Principal, user string) (policy.Principal, error)
}
