package approval

import (
	"context"
	"errors"
	"time"
)

// Errors of a [Store].
var (
	ErrNotFound = errors.New("approval not found")
	ErrConflict = errors.New("the approval was changed by somebody else")
	// ErrRunOver is returned for a new approval of a run that has ended, or is not there.
	ErrRunOver = errors.New("the run is over")
)

// Filter selects approvals, newest first. Empty fields select all.
type Filter struct {
	Owner   string
	Run     string
	State   []State
	Expired time.Time // only those that expire at this time or before
	Before  string    // only those that are older than the one with this id
	Limit   int       // how many at most; required
}

// Store keeps approvals beside the runs that they are for. When a run ends, its approvals that are not
// final are cancelled with it, at once; when a thread is removed, so are its approvals.
// Implementations are safe for concurrent use by several processes. What a method has returned without
// error is there after a power cut too. Errors of the storage itself match [agents.ErrUnavailable].
type Store interface {
	// CreateApproval keeps a new approval of a run that is not over, and returns it as it is stored. When
	// there is one with its id, nothing changes and that one is returned.
	CreateApproval(ctx context.Context, a Approval) (Approval, error)
	// SaveApproval replaces the approval if its version is still a.Version, and raises it; otherwise the
	// error is ErrConflict.
	SaveApproval(ctx context.Context, a *Approval) error
	Approval(ctx context.Context, id string) (Approval, error)
	// Approvals lists approvals. It uses an index for the run, for the owner, and for those that are not
	// final.
	Approvals(ctx context.Context, f Filter) ([]Approval, error)
}
