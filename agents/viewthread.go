package agents

import (
	"context"
	"errors"
	"time"
)

// CreateThread creates a thread. It counts like the start of a run. The errors are [ErrThreadExists],
// also when the one with the id is somebody else's, [LimitError] and [FieldError].
func (v View) CreateThread(ctx context.Context, req ThreadRequest) (Thread, error) {
	owner := ownerOf(v.p)
	if err := v.rt.count(ctx, owner, v.rt.limits); err != nil {
		return Thread{}, err
	}
	now := time.Now().UTC()
	if req.ID == "" {
		req.ID = newID()
	}
	t := Thread{ID: req.ID, Owner: owner, Created: now, Updated: now, Status: ThreadIdle, Metadata: req.Metadata, TTL: req.TTL}
	return t, v.rt.store.CreateThread(ctx, t)
}

// UpdateThread changes a thread.
func (v View) UpdateThread(ctx context.Context, id string, p ThreadPatch) (Thread, error) {
	return Thread{}, errors.ErrUnsupported
}

// CopyThread makes a thread with the state and the history of another one, of the same owner.
func (v View) CopyThread(ctx context.Context, id string) (Thread, error) {
	return Thread{}, errors.ErrUnsupported
}

// PruneThreads removes threads ([PruneDelete]) or what their state was earlier ([PruneKeep]).
func (v View) PruneThreads(ctx context.Context, ids []string, strategy string) error {
	return errors.ErrUnsupported
}
