package agents

import (
	"context"
	"errors"
	"iter"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/eventlog"
	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/scanner/redact"
)

// View is what one principal can see and do: its own threads and runs, everybody's for an admin.
// What belongs to somebody else is not there: the error is the same as for what does not exist.
// Every interface to the runtime goes through a view; get one with [Runtime.As].
type View struct {
	rt *Runtime
	p  policy.Principal
}

// As returns the principal's view.
func (rt *Runtime) As(p policy.Principal) View { return View{rt, p} }

// sees reports whether what belongs to an owner is there for the principal. One that acts for
// another user sees what is that user's.
func (v View) sees(owner string) bool {
	return v.p.Role == policy.Admin || owner == ownerOf(v.p)
}

func (v View) handle(info RunInfo) Handle {
	return Handle{host: v.rt.Host, p: v.p, RunInfo: info, secrets: v.rt.gate.secrets}
}

// Thread reads a thread; the error is [ErrThreadNotFound] when there is none that the principal sees.
func (v View) Thread(ctx context.Context, id string) (Thread, error) {
	t, err := v.rt.store.Thread(ctx, id)
	if err == nil && !v.sees(t.Owner) {
		v.foreign(ctx, "", id)
		return Thread{}, ErrThreadNotFound
	}
	return t, err
}

// foreign records that the principal asked for what belongs to somebody else. The answer does not
// tell; the log does, so that guessing can be seen.
func (v View) foreign(ctx context.Context, run, thread string) {
	e := eventBy(v.p, audit.PermissionDenied)
	e.Run, e.Thread = run, thread
	e.Decision, e.Status, e.Reasons = string(policy.Deny), "denied", []string{"owner: it belongs to somebody else"}
	if err := v.rt.audit.Queue(context.WithoutCancel(ctx), e); err != nil {
		v.rt.log.Error("recording a refusal failed", zap.Error(err))
	}
}

// owner is whose threads and runs are listed for somebody who asks for those of an owner, or of nobody
// in particular. It reports false when the principal does not see them.
func (v View) owner(asked string) (owner string, ok bool) {
	if asked == "" && v.p.Role != policy.Admin {
		asked = ownerOf(v.p)
	}
	return asked, v.sees(asked)
}

// Threads lists a page of threads and the number of all that match. Without an owner in the filter,
// admins get everybody's and others their own.
func (v View) Threads(ctx context.Context, f ThreadFilter) ([]Thread, int, error) {
	var ok bool
	if f.Owner, ok = v.owner(f.Owner); !ok {
		return nil, 0, nil // no error to ask for, and not shown
	}
	return v.rt.store.Threads(ctx, f)
}

// deleteTime is how long the removal of a thread may take. The rest is for the next sweep.
const deleteTime = time.Minute

// DeleteThread removes a thread with all that was said and done in it. The records of the audit log
// stay. The error is [ErrThreadNotFound], or [ErrBusy] while a run is active or waits: cancel it
// first. The removal is on record before it begins.
func (v View) DeleteThread(ctx context.Context, id string) error {
	t, err := v.Thread(ctx, id)
	if err != nil {
		return err
	}
	if !t.alone() {
		return ErrBusy
	}
	e := eventBy(v.p, audit.ThreadDeleted)
	e.Thread = id
	if t.Owner != ownerOf(v.p) {
		e.OnBehalfOf = t.Owner
	}
	return v.rt.audit.Around(ctx, e, func(*audit.Event) error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), deleteTime) // what has begun goes on
		defer cancel()
		return v.rt.store.DeleteThread(ctx, id, time.Time{})
	})
}

// Messages are a thread's messages, oldest first.
func (v View) Messages(ctx context.Context, thread string) ([]model.Message, error) {
	if _, err := v.Thread(ctx, thread); err != nil {
		return nil, err
	}
	return v.rt.store.Messages(ctx, thread, -1)
}

// Runs lists a page of runs, newest first, by the rules of Threads.
func (v View) Runs(ctx context.Context, f RunFilter) ([]RunInfo, error) {
	var ok bool
	if f.Owner, ok = v.owner(f.Owner); !ok {
		return nil, nil
	}
	return v.rt.store.Runs(ctx, f)
}

// Run finds a run; the error is [ErrRunNotFound] when there is none that the principal sees. A run
// of another thread than the one named is not found; with an empty thread any is.
func (v View) Run(ctx context.Context, thread, id string) (Handle, error) {
	info, err := v.rt.store.RunInfo(ctx, id)
	switch {
	case err == nil && !v.sees(info.Owner):
		v.foreign(ctx, id, info.Thread)
		err = ErrRunNotFound
	case err == nil && (info.Hidden || thread != "" && info.Thread != thread):
		err = ErrRunNotFound
	}
	if err != nil {
		return Handle{}, err
	}
	return v.handle(info), nil
}

// LatestRun is the last run of a thread; the error is [ErrThreadNotFound] or [ErrRunNotFound].
func (v View) LatestRun(ctx context.Context, thread string) (Handle, error) {
	if _, err := v.Thread(ctx, thread); err != nil {
		return Handle{}, err
	}
	runs, err := v.rt.store.Runs(ctx, RunFilter{Thread: thread, Limit: 1})
	if err == nil && len(runs) == 0 {
		err = ErrRunNotFound
	}
	if err != nil {
		return Handle{}, err
	}
	return v.handle(runs[0]), nil
}

// Handle is a run that a view has given out: who has it may read and cancel the run.
type Handle struct {
	host *Host
	p    policy.Principal // whose view it was
	RunInfo
	secrets *redact.Secrets
	origin  *origin // nil: the store knows
}

// Follow yields the run's events from a sequence number on, all that there are at a time, and ends
// after the event done. A number beyond the end of a finished run yields its done event. While the
// run waits, so does the reader. When ctx ends first, the last pair holds no events and the
// context's cause.
func (h Handle) Follow(ctx context.Context, from int) iter.Seq2[[]eventlog.Event, error] {
	return h.host.follow(ctx, h.ID, from, false)
}

// FollowTurn is Follow for who does not wait with a run: it also ends when the run waits and all that was
// told until then has been read.
func (h Handle) FollowTurn(ctx context.Context, from int) iter.Seq2[[]eventlog.Event, error] {
	return h.host.follow(ctx, h.ID, from, true)
}

// Cancel ends the run as cancelled, in whatever process it is. When it returns nil, the run's status
// will be cancelled; the error is [ErrOver] when another end was decided before, and
// [ErrUnreachable] when the process that has the run does not answer.
func (h Handle) Cancel(ctx context.Context) error {
	err := h.host.cancel(ctx, h.ID)
	if errors.Is(err, ErrNotFound) {
		return ErrOver
	}
	return err
}
