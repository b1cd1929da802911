package agents

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/svc-gateway/svc/agents/tree"
	"github.com/svc-gateway/svc/audit"
)

// maxTTL is how long a thread's own time may be.
const maxTTL = 10 * 365 * 24 * time.Hour

// CreateThread creates a thread. It counts like the start of a run. The errors are [ErrThreadExists],
// also when the one with the id is somebody else's, [LimitError] and [FieldError].
func (v View) CreateThread(ctx context.Context, req ThreadRequest) (Thread, error) {
	if req.ID == "" {
		req.ID = newID()
	} else if parsed, err := uuid.Parse(req.ID); err != nil || parsed.String() != req.ID {
		return Thread{}, &FieldError{"thread_id", "must be a UUID in lower case"}
	}
	if err := checkTTL(req.TTL); err != nil {
		return Thread{}, err
	}
	if req.IfExists != Raise && req.IfExists != "raise" && req.IfExists != DoNothing {
		return Thread{}, &FieldError{"if_exists", "must be raise or do_nothing"}
	}
	owner := ownerOf(v.p)
	if err := v.rt.count(ctx, owner, v.rt.limits); err != nil {
		return Thread{}, err
	}
	now := time.Now().UTC()
	t := Thread{ID: req.ID, Owner: owner, Created: now, Updated: now, Status: ThreadIdle, Metadata: req.Metadata, TTL: req.TTL}
	err := v.rt.store.CreateThread(ctx, t)
	if errors.Is(err, ErrConflict) {
		return v.existing(ctx, req)
	}
	if err == nil && len(req.Values) > 0 {
		change := tree.Change{Values: req.Values, Tip: true}
		_, err = v.rt.store.Write(ctx, t.ID, tree.Root, 0, []tree.Write{{Created: now, Source: tree.Update, Change: change}})
		t.Messages = 1
	}
	return t, err
}

// existing is the thread that has the id of one that was to be created.
func (v View) existing(ctx context.Context, req ThreadRequest) (Thread, error) {
	t, err := v.Thread(ctx, req.ID)
	if errors.Is(err, ErrThreadNotFound) || err == nil && req.IfExists != DoNothing {
		return Thread{}, ErrThreadExists
	}
	return t, err
}

func checkTTL(d time.Duration) error {
	if d < 0 || d > maxTTL {
		return &FieldError{"ttl", "must be from 0 minutes to 10 years"}
	}
	return nil
}

// UpdateThread changes a thread.
func (v View) UpdateThread(ctx context.Context, id string, p ThreadPatch) (Thread, error) {
	if _, err := v.Thread(ctx, id); err != nil {
		return Thread{}, err
	}
	if p.TTL != nil {
		if err := checkTTL(*p.TTL); err != nil {
			return Thread{}, err
		}
	}
	return v.rt.store.UpdateThread(ctx, id, p, time.Now().UTC())
}

// CopyThread makes a thread with the metadata, the state and the history of another one, for the same
// owner. What a run that is under way has said is not copied. It counts like the start of a run.
func (v View) CopyThread(ctx context.Context, id string) (Thread, error) {
	t, err := v.Thread(ctx, id)
	if err != nil {
		return Thread{}, err
	}
	if err := v.rt.count(ctx, ownerOf(v.p), v.rt.limits); err != nil {
		return Thread{}, err
	}
	t.ID, t.Status, t.Ephemeral = newID(), ThreadIdle, false
	t.Created = time.Now().UTC()
	t.Updated = t.Created
	if err := v.rt.store.CopyThread(ctx, id, t); err != nil {
		return Thread{}, err
	}
	return v.rt.store.Thread(ctx, t.ID)
}

// PruneThreads removes threads ([PruneDelete]) or what their state was earlier ([PruneKeep]). Nothing
// is done unless all of them are there and no run has any of them. What is done is on record before.
func (v View) PruneThreads(ctx context.Context, ids []string, strategy string) error {
	if strategy != PruneDelete && strategy != PruneKeep {
		return &FieldError{"strategy", "must be delete or keep_latest"}
	}
	for _, id := range ids {
		t, err := v.Thread(ctx, id)
		if err != nil {
			return err
		}
		if !t.alone() {
			return ErrBusy
		}
	}
	for _, id := range ids {
		prune := v.DeleteThread
		if strategy == PruneKeep {
			prune = v.keepLatest
		}
		if err := prune(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

func (v View) keepLatest(ctx context.Context, id string) error {
	e := eventBy(v.p, audit.ThreadPruned)
	e.Thread = id
	return v.rt.audit.Around(ctx, e, func(*audit.Event) error { return v.rt.store.Prune(ctx, id) })
}
