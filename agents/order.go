package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/internal/bus"
	"github.com/svc-gateway/svc/internal/lease"
)

// Orders reach a run wherever it is: in this process, in the store where it waits, or in another
// process, which is asked over the bus.

// ErrOver is the answer to who wants to cancel a run whose end is decided.
var ErrOver = errors.New("the run is over")

// ErrUnreachable is the answer when the process that has a run does not reply.
var ErrUnreachable = errors.New("the process that has the run does not answer")

// order is what one process asks of another.
type order struct {
	Do    action `json:"do"`
	Run   string `json:"run"`
	Reply string `json:"reply"` // topic for the answer
}

type action string

const (
	doCancel action = "cancel"
	doWake   action = "wake"
	doPass   action = "pass"
)

// answer is the reply to an order.
type answer string

const (
	answerDone   answer = "done"
	answerOver   answer = "over"
	answerAbsent answer = "absent" // the run is not active there
)

const (
	orderPause   = 10 * time.Millisecond  // before a run that moves is looked for again
	orderAgain   = 500 * time.Millisecond // after which an order is repeated: it may have been lost
	orderPatient = 5 * time.Second        // how long an answer is waited for
)

func nodeTopic(node string) string { return "node." + node }

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
func (h *Host) reach(ctx context.Context, run string, do action, here func(context.Context) (answer, error)) error {
	ctx, cancel := context.WithTimeoutCause(ctx, orderPatient, ErrUnreachable)
	defer cancel()
	for {
		a, err := here(ctx)
		if errors.Is(err, lease.ErrTaken) {
			a, err = h.ask(ctx, order{Do: do, Run: run})
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

// ask sends an order to the process that has the run, and waits for its answer.
func (h *Host) ask(ctx context.Context, o order) (answer, error) {
	node, err := h.holder(ctx, o.Run)
	if err != nil {
		return "", err
	}
	if node == "" || node == h.node {
		return answerAbsent, nil
	}
	o.Reply = "reply." + newID()
	message, err := json.Marshal(o)
	if err != nil {
		return "", fmt.Errorf("encoding an order: %w", err)
	}
	replies := h.bus.Subscribe(o.Reply)
	defer replies.Close()
	for {
		if err := h.bus.Publish(ctx, nodeTopic(node), message); err != nil {
			return "", fmt.Errorf("asking another process: %w", err)
		}
		select {
		case reply := <-replies.C():
			if reply != nil { // else the answer may have been missed
				return answer(reply), nil
			}
		case <-time.After(orderAgain):
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
		// It may have died, or given the run to a third one.
		if now, err := h.holder(ctx, o.Run); err == nil && now != node {
			return answerAbsent, nil
		}
	}
}

// takeOrders carries out what other processes ask of this one.
func (h *Host) takeOrders(orders *bus.Subscription) {
	defer orders.Close()
	for {
		select {
		case <-h.base.Done():
			return
		case message := <-orders.C():
			if message == nil { // the bus was away, and may have forgotten the leases
				h.renewAll()
				continue
			}
			var o order
			if err := json.Unmarshal(message, &o); err != nil {
				h.log.Warn("an order of another process cannot be read", zap.Error(err))
				continue
			}
			reply := []byte(h.obey(o))
			if err := h.bus.Publish(h.base, o.Reply, reply); err != nil {
				h.log.Debug("answering another process failed, it will ask again", zap.Error(err))
			}
		}
	}
}

// obey carries out an order if the run is active here. To do so twice changes nothing.
func (h *Host) obey(o order) answer {
	switch o.Do {
	case doCancel:
		if here, accepted := h.cancelActive(o.Run); accepted {
			return answerDone
		} else if here {
			return answerOver
		}
	case doWake:
		if h.wakeActive(o.Run) {
			return answerDone
		}
	}
	return answerAbsent
}
