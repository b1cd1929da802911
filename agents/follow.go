package agents

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/svc-gateway/svc/agents/eventlog"
	"github.com/svc-gateway/svc/internal/bus"
)

const (
	readBatch = 256             // events that are taken from the store at a time
	lookAgain = 5 * time.Second // after which a reader of a run elsewhere looks although nobody told it to
)

// errWaits ends the reading of a run that waits, for those who do not wait with it.
var errWaits = errors.New("the run waits")

// follow yields a run's events from a sequence number on, all that there are at a time, and
// ends after the event done. A number beyond the end of a finished run yields its done event.
// When ctx ends first, the last pair holds no events and the context's cause. With turn it also ends
// when the run waits and there is nothing more to tell.
func (h *Host) follow(ctx context.Context, run string, from int, turn bool) iter.Seq2[[]eventlog.Event, error] {
	return func(yield func([]eventlog.Event, error) bool) {
		r := reader{h: h, run: run, turn: turn}
		defer r.close()
		for {
			events, err := r.next(ctx, from)
			if errors.Is(err, errWaits) {
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(events, nil) || events[len(events)-1].Type == eventlog.Done {
				return
			}
			from = events[len(events)-1].Seq + 1
		}
	}
}

// reader is one reader of a run, wherever the run is at work, waits or ended.
type reader struct {
	h     *Host
	run   string
	turn  bool              // it does not wait with the run
	log   *eventLog         // of the run while, or after, it was active here
	calls *bus.Subscription // by which other processes tell of news, when it is not
}

// next waits for events: at least one, unless there is an error.
func (r *reader) next(ctx context.Context, from int) (events []eventlog.Event, err error) {
	for err == nil && len(events) == 0 {
		if r.log == nil {
			if a := r.h.activeRun(r.run); a != nil {
				r.log = a.log
				r.close()
			}
		}
		switch {
		case r.log != nil:
			events, err = r.fromLog(ctx, from)
		case r.calls == nil: // look once more when nothing can be missed
			r.calls = r.h.bus.Subscribe(eventlog.Topic(r.run))
		default:
			events, err = r.h.elsewhere(ctx, r.run, from)
			if r.waitsAlong(err) || err == nil && len(events) == 0 {
				err = called(ctx, r.calls)
			}
		}
		if r.waitsAlong(err) {
			err = nil
		}
	}
	return events, err
}

func (r *reader) waitsAlong(err error) bool { return !r.turn && errors.Is(err, errWaits) }

// fromLog reads a log that is in memory, or waits for it once.
func (r *reader) fromLog(ctx context.Context, from int) ([]eventlog.Event, error) {
	events, news, left := r.log.Read(from)
	switch {
	case len(events) > 0:
		return events, nil
	case left:
		r.log = nil
		return nil, nil
	case news == nil: // memory does not go back that far
		events, err := r.h.stored(ctx, r.run, from)
		if err == nil && len(events) == 0 { // nor does the store: they were removed
			r.log = nil
			return r.h.elsewhere(ctx, r.run, from)
		}
		return events, err
	}
	select {
	case <-news:
		return nil, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (r *reader) close() {
	if r.calls != nil {
		r.calls.Close()
		r.calls = nil
	}
}

// stored takes events from the store.
func (h *Host) stored(ctx context.Context, run string, from int) ([]eventlog.Event, error) {
	events, err := h.store.Events(ctx, run, from, readBatch)
	if err != nil {
		return nil, fmt.Errorf("reading events: %w", err)
	}
	return events, nil
}

// elsewhere are the events of a run that is not active here; of a finished one that has been read
// to its end, the done event again. The error is errWaits when a run waits that has been read to there.
func (h *Host) elsewhere(ctx context.Context, run string, from int) ([]eventlog.Event, error) {
	events, err := h.stored(ctx, run, from)
	if err != nil || len(events) > 0 {
		return events, err
	}
	r, err := h.store.RunInfo(ctx, run)
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the run: %w", err)
	case !r.Status.Final() && r.Status != Interrupted:
		return nil, nil
	}
	events, err = h.stored(ctx, run, from) // it may have come to that since
	switch {
	case err != nil || len(events) > 0:
		return events, err
	case !r.Status.Final():
		return nil, errWaits
	}
	return []eventlog.Event{{Seq: max(from-1, 0), Type: eventlog.Done, Status: string(r.Status)}}, nil
}
