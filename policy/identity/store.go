package identity

import (
	"context"
	"errors"
	"time"

	"github.com/svc-gateway/svc/policy"
)

// ErrNotFound is what a [Store] answers for a token that it does not hold.
var ErrNotFound = errors.New("not found")

// Store keeps users and tokens. It is the seam between one machine and a fleet: every
// implementation passes the conformance suite of package identitytest. All methods are safe
// for concurrent use; reads see every change that was applied before they began.
type Store interface {
	// Revision is the number of changes applied so far.
	Revision(ctx context.Context) (int64, error)
	// ByHash and ByID find a token, revoked and expired ones included, with its user, all as
	// of one revision. Without one they return [ErrNotFound].
	ByHash(ctx context.Context, h Hash) (Credential, error)
	ByID(ctx context.Context, id string) (Credential, error)
	// Accounts returns the users that the filter selects, ordered by name, each with all
	// tokens in the order of their creation, and the revision that this is the state of.
	Accounts(ctx context.Context, f Filter) ([]Account, int64, error)
	// Apply makes all of the change durable or nothing of it, and returns the new revision.
	// It returns [ErrConflict] when the store is not at Change.Revision any more.
	Apply(ctx context.Context, c Change) (int64, error)
	// Touch notes when tokens (by id) were last used. That may be lost in a crash, does not
	// count as a change, and never moves a time back; it can be read after the next Apply at
	// the latest. Unknown ids are ignored.
	Touch(ctx context.Context, used map[string]time.Time) error
	// Close writes what is pending and closes the store.
	Close() error
}

// Credential is a token with its user.
type Credential struct {
	Token    Token
	User     User
	Revision int64 // of the store when it was read
}

// Filter selects accounts. An empty field selects all.
type Filter struct {
	Name string
	Role policy.Role
}

// Change is what happens in one step. Its rows are complete: they replace what was there.
type Change struct {
	Revision  int64      // the revision that the change was decided on
	Users     []User     // inserted, or updated where the name exists
	NewTokens []NewToken // inserted; an id or hash that exists is an error
	Tokens    []Token    // Expires and Revoked of existing tokens, by ID
}

// NewToken is a token with what it is looked up by.
type NewToken struct {
	Token
	Hash Hash
}
