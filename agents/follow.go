package agents

import (
	"context"
	"fmt"
	"iter"
)

// readBatch is how many events are taken from the store at a time.
const readBatch = 256

// Follow yields a run's events from a sequence number on, all that there are at a time, and
// ends after the event done. A number beyond the end of a finished run yields its done event.
// When ctx ends first, the last pair holds no events and the context's cause.
func (h *Host) Follow(ctx context.Context, run string, from int) iter.Seq2[[]Event, error] {
	return func(yield func([]Event, error) bool) {
		news := h.bus.Subscribe(topic(run))
		defer news.Close()
		var log *eventLog
		if a := h.activeRun(run); a != nil {
			log = a.log
		}
		for {
			events, err := h.read(ctx, log, run, from)
			if err == nil && len(events) == 0 && log == nil {
				events, err = h.over(ctx, run, from)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if n := len(events); n > 0 {
				if !yield(events, nil) || events[n-1].Type == EventDone {
					return
				}
				from = events[n-1].Seq + 1
				continue
			}
			select {
			case <-news.C():
			case <-ctx.Done():
				yield(nil, context.Cause(ctx))
				return
			}
		}
	}
}

// read takes events from memory, or from the store when they are no longer there.
func (h *Host) read(ctx context.Context, log *eventLog, run string, from int) ([]Event, error) {
	if log != nil {
		if events, ok := log.read(from); ok {
			return events, nil
		}
	}
	events, err := h.store.Events(ctx, run, from, readBatch)
	if err != nil {
		return nil, fmt.Errorf("reading events: %w", err)
	}
	return events, nil
}

// over are the last events of a finished run that are not read yet, or its done event again.
func (h *Host) over(ctx context.Context, run string, from int) ([]Event, error) {
	r, err := h.store.Run(ctx, run)
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the run: %w", err)
	case !r.Status.Final():
		return nil, nil
	}
	events, err := h.store.Events(ctx, run, from, readBatch) // it may have finished since
	if err != nil || len(events) > 0 {
		return events, err
	}
	return []Event{{Seq: max(from-1, 0), Type: EventDone, Status: string(r.Status)}}, nil
}
