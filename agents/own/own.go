// Package own says what belongs to whom.
//
// What a principal makes belongs to the user that it acts for, and to itself when it acts for nobody.
// Users see what is theirs, admins see everything. What belongs to somebody else is answered like what
// does not exist, and that it was asked for is put on record:
//
//	if !own.Sees(p, item.Owner) {
//		return errors.Join(ErrNotFound, own.Foreign(ctx, log, p, "item "+item.Key))
//	}
//
// Nothing here has state; all of it is safe for concurrent use.
package own

import (
	"context"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/policy"
)

// Of is the user whom what a principal makes belongs to.
func Of(p policy.Principal) string {
	if p.OnBehalfOf != "" {
		return p.OnBehalfOf
	}
	return p.User
}

// Sees reports whether what belongs to an owner is there for a principal.
func Sees(p policy.Principal, owner string) bool { return p.Role == policy.Admin || owner == Of(p) }

// Listed is whose things are listed for a principal that asks for those of an owner, or of nobody in
// particular: its own, and everybody's (empty) for an admin. It reports false when the principal does not
// see them.
func Listed(p policy.Principal, asked string) (owner string, ok bool) {
	if asked == "" && p.Role != policy.Admin {
		asked = Of(p)
	}
	return asked, Sees(p, asked)
}

// Event is a record of what a principal does.
func Event(p policy.Principal, typ string) audit.Event {
	return audit.Event{
		Type: typ, User: p.User, Role: string(p.Role), OnBehalfOf: p.OnBehalfOf,
		Address: p.Address, TokenID: p.TokenID, RequestID: p.RequestID,
	}
}

// Foreign records that a principal asked for what belongs to somebody else: a kind of thing with its
// id. The answer does not tell; the log does, so that guessing can be seen.
func Foreign(ctx context.Context, log *audit.Log, p policy.Principal, kind, id string) error {
	e := Event(p, audit.PermissionDenied)
	e.Decision, e.Status, e.Reasons = string(policy.Deny), "denied", []string{"owner: " + kind + " " + id + " belongs to somebody else"}
	return log.Queue(context.WithoutCancel(ctx), e)
}
