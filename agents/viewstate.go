package agents

import (
	"context"
	"errors"
)

// State is the state of a thread at a checkpoint; with an empty checkpoint, as it is now. The errors
// are [ErrThreadNotFound] and [ErrCheckpointNotFound].
func (v View) State(ctx context.Context, thread, checkpoint string) (Checkpoint, error) {
	return Checkpoint{}, errors.ErrUnsupported
}

// History are a thread's checkpoints of all branches, newest first.
func (v View) History(ctx context.Context, thread string, f HistoryFilter) ([]Checkpoint, error) {
	return nil, errors.ErrUnsupported
}

// UpdateState changes the state of a thread and returns it. The error is [ErrBusy] while a run has the
// thread. The change is on record before it is made.
func (v View) UpdateState(ctx context.Context, thread string, u StateUpdate) (Checkpoint, error) {
	return Checkpoint{}, errors.ErrUnsupported
}

// DeleteRun removes a run that is over from the thread's list, with its events. What it said stays in
// the thread. The error is [ErrBusy] when it is not over.
func (v View) DeleteRun(ctx context.Context, thread, id string) error {
	return errors.ErrUnsupported
}

// Resume goes on with a run that stands at a stop. The error is [ErrNotInterrupted] when none does.
func (v View) Resume(ctx context.Context, thread string, r Resumption) (Handle, error) {
	return Handle{}, errors.ErrUnsupported
}

// Rollback cancels the run, if it is not over, and takes back what it did: the thread stands where it
// stood before, and the run is not listed any more. The error is [ErrBusy] when something has followed
// it.
func (h Handle) Rollback(ctx context.Context) error {
	return errors.ErrUnsupported
}
