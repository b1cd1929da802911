package agents

import (
	"context"
	"errors"
	"time"

	"github.com/svc-gateway/svc/internal/errand"
	"github.com/svc-gateway/svc/internal/lease"
)

// Orders reach a run wherever it is: in this process, in the store where it waits, or in another
// process, which is asked over the bus.

// ErrOver is the answer to who wants to cancel a run whose end is decided.
var ErrOver = errors.New("the run is over")

// ErrUnreachable is the answer when the process that has a run does not reply.
var ErrUnreachable = errors.New("the process that has the run does not answer")

// What one process asks of another.
const (
	doCancel = "cancel"
	doWake   = "wake"
	doPass   = "pass"
)

// answer is the reply to an order.
type answer string

const (
	answerDone   answer = "done"
	answerOver   answer = "over"
	answerAbsent answer = "absent" // the run is not active there
)

const (
	orderPause   = 10 * time.Millisecond // before a run that moves is looked for again
	orderPatient = 5 * time.Second       // how long an answer is waited for
)

// Wake has a run look at its waiting calls again, since one of them may have leave now. It does
// nothing for a run that does not wait. Whoever gives leave calls it once the leave is durable.
func (h *Host) Wake(ctx context.Context, run string) error {
	return h.reach(ctx, run, doWake, func(ctx context.Context) (answer, error) {
		if h.wakeActive(run) {
			return answerDone, nil
		}
		err := h.resume(ctx, run)
		if errors.Is(err, errNotWaiting) {
			return answerDone, nil
		}
		return answerDone, err
	})
}

// cancel ends a run as cancelled. The error is ErrOver when its end was decided before.
func (h *Host) cancel(ctx context.Context, run string) error {
	return h.reach(ctx, run, doCancel, func(ctx context.Context) (answer, error) {
		if here, accepted := h.cancelActive(run); accepted {
			return answerDone, nil
		} else if here {
			return answerOver, nil
		}
		return h.cancelIdle(ctx, run)
	})
}

// cancelIdle ends a run that no process is at work on.
func (h *Host) cancelIdle(ctx context.Context, run string) (answer, error) {
	info, err := h.store.RunInfo(ctx, run)
	if err != nil {
		return "", err
	}
	if info.Status.Final() {
		return answerOver, nil
	}
	l, r, err := h.seize(ctx, run)
	if err != nil {
		return "", err
	}
	if r.Status.Final() {
		return answerOver, h.letGo(l)
	}
	r.Failure = endedBy(errCancelled)
	return answerDone, errors.Join(h.endAbandoned(ctx, r), h.letGo(l))
}

// reach carries out an order here, or where the run is. The run may move meanwhile.
func (h *Host) reach(ctx context.Context, run string, do string, here func(context.Context) (answer, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, orderPatient, ErrUnreachable)
	defer cancel()
	for {
		a, err := here(ctx)
		if errors.Is(err, lease.ErrTaken) {
			a, err = h.ask(ctx, errand.Errand{Do: do, Run: run})
		}
		switch {
		case err != nil && ctx.Err() != nil:
			return errors.Join(context.Cause(ctx), err)
		case errors.Is(err, ErrConflict): // somebody has changed the run meanwhile
		case err != nil:
			return err
		case a == answerDone:
			return nil
		case a == answerOver:
			return ErrOver
		}
		select { // the run has just been let go of, here or there
		case <-time.After(orderPause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// ask asks the process that has the run. It may have died meanwhile, or given the run to a third one.
func (h *Host) ask(ctx context.Context, e errand.Errand) (answer, error) {
	node, err := h.holder(ctx, e.Run)
	if err != nil {
		return "", err
	}
	if node == "" || node == h.node {
		return answerAbsent, nil
	}
	reply, err := errand.Ask(ctx, h.bus, node, e, func(ctx context.Context) bool {
		now, err := h.holder(ctx, e.Run)
		return err != nil || now == node
	})
	if err == nil && reply == "" {
		return answerAbsent, nil
	}
	return answer(reply), err
}

// obey carries out an order if the run is active here. To do so twice changes nothing.
func (h *Host) obey(e errand.Errand) answer {
	switch e.Do {
	case doCancel:
		if here, accepted := h.cancelActive(e.Run); accepted {
			return answerDone
		} else if here {
			return answerOver
		}
	case doWake:
		if h.wakeActive(e.Run) {
			return answerDone
		}
	}
	return answerAbsent
}
