package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/audit"
)

// Retention says how long threads and events are kept. What is zero is kept for ever. A thread that a
// run has is never removed, also not while the run waits.
type Retention struct {
	Threads   time.Duration // threads in which nothing has happened for so long
	Ephemeral time.Duration // the same for those that were made for a single run
	Events    time.Duration // what finished runs have told; messages stay
	Size      int64         // bytes of the store above which the oldest threads go, ephemeral ones first
}

const (
	sweepEvery = 10 * time.Minute
	sweepBatch = 100              // threads that are listed at a time
	sweepTime  = 3 * sweepEvery   // how long one process has the sweep for itself
	sweepKey   = "retention"      // of the lease
	sweepRest  = 10 * time.Second // for how long a sweep goes on at most; then others may have the disk

	// leastAge is how long nothing has happened in a thread that is removed for the sake of the size.
	leastAge = time.Hour
)

// sweepAgain removes what is old, from time to time, in one process at a time.
func (h *Host) sweepAgain() {
	h.sweepOnce()
	h.every(sweepEvery, h.sweepOnce)
}

func (h *Host) sweepOnce() {
	rt := h.serving()
	if rt == nil {
		return
	}
	token, err := h.bus.Lease(h.base, sweepKey, h.node, sweepTime)
	if err == nil && token != 0 {
		err = h.Sweep(h.base, rt.retention, time.Now())
	}
	if err != nil && h.base.Err() == nil {
		h.log.Warn("removing what is old failed, trying again", zap.Error(err))
	}
}

// Sweep removes what is older than the settings want. What is removed is on record before, and how
// much it was afterwards. It ends after a few seconds; what is left then is for the next sweep.
func (h *Host) Sweep(ctx context.Context, r Retention, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, sweepRest)
	defer cancel()
	errs := []error{
		h.remove(ctx, "half removed threads", now, h.threads(time.Time{}, h.store.HalfRemoved, nil)),
		h.remove(ctx, "expired threads", now, h.threads(now, h.expired(now), nil)),
	}
	for _, s := range []struct {
		what string
		age  time.Duration
		some func(before time.Time) removal
	}{
		{"ephemeral threads", r.Ephemeral, func(before time.Time) removal { return h.threads(before, h.stale(true, before), nil) }},
		{"threads", r.Threads, func(before time.Time) removal { return h.threads(before, h.stale(false, before), nil) }},
		{"events", r.Events, h.events},
	} {
		if s.age > 0 {
			before := now.Add(-s.age)
			errs = append(errs, h.remove(ctx, s.what, before, s.some(before)))
		}
	}
	if r.Size > 0 {
		above := func(ctx context.Context) (bool, error) {
			size, err := h.store.Size(ctx)
			return size > r.Size, err
		}
		before := now.Add(-leastAge)
		for _, ephemeral := range []bool{true, false} {
			errs = append(errs, h.remove(ctx, "threads above the size", before, h.threads(before, h.stale(ephemeral, before), above)))
		}
		if still, err := above(ctx); err == nil && still && ctx.Err() == nil {
			h.log.Warn("the state of threads and runs takes more than retention.size, and no thread is old enough to be removed", zap.Int64("retention.size", r.Size))
		}
	}
	return errors.Join(errs...)
}

// removal finds and removes some of what is old: first it tells whether there is any.
type removal struct {
	any  func(ctx context.Context) (bool, error)
	some func(ctx context.Context) (n int, err error) // 0: there is none left
}

// remove does a removal with its records. Nothing is recorded where there is nothing to remove. When
// ctx ends, the rest is for the next time, which is no error.
func (h *Host) remove(ctx context.Context, what string, before time.Time, r removal) error {
	if there, err := r.any(ctx); ctx.Err() != nil {
		return nil
	} else if err != nil || !there {
		return err
	}
	input := map[string]any{"what": what, "before": before.UTC().Format(audit.TimeFormat)}
	text, _ := json.Marshal(input) // of strings and, later, a number
	return h.audit.Around(ctx, audit.Event{Type: audit.Retention, Input: string(text)}, func(end *audit.Event) error {
		total := 0
		var err error
		for n := 1; n > 0 && err == nil && ctx.Err() == nil; total += n {
			n, err = r.some(ctx)
		}
		input["count"] = total
		text, _ := json.Marshal(input)
		end.Input = string(text)
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("removing %s: %w", what, err)
		}
		return nil
	})
}

// lister finds threads to remove.
type lister func(ctx context.Context, limit int) ([]string, error)

func (h *Host) stale(ephemeral bool, before time.Time) lister {
	return func(ctx context.Context, limit int) ([]string, error) {
		return h.store.StaleThreads(ctx, ephemeral, before, limit)
	}
}

// expired are threads whose own time was over at a time.
func (h *Host) expired(now time.Time) lister {
	return func(ctx context.Context, limit int) ([]string, error) { return h.store.ExpiredThreads(ctx, now, limit) }
}

// threads removes threads that find finds, unless something has happened in them since a time, while
// there is a reason to.
func (h *Host) threads(before time.Time, find lister, reason func(context.Context) (bool, error)) removal {
	list := func(ctx context.Context, limit int) ([]string, error) {
		if reason != nil {
			if yes, err := reason(ctx); err != nil || !yes {
				return nil, err
			}
			limit = min(limit, sweepBatch/10) // and look again soon
		}
		return find(ctx, limit)
	}
	return removal{
		any: func(ctx context.Context) (bool, error) {
			ids, err := list(ctx, 1)
			return len(ids) > 0, err
		},
		some: func(ctx context.Context) (n int, err error) {
			ids, err := list(ctx, sweepBatch)
			for _, id := range ids {
				switch err := h.store.DeleteThread(ctx, id, before); {
				case errors.Is(err, ErrBusy), errors.Is(err, ErrThreadNotFound): // it is used again, or somebody removed it
				case err != nil:
					return n, err
				default:
					n++
				}
			}
			return n, err
		},
	}
}

// events removes what runs have told that were over at a time.
func (h *Host) events(before time.Time) removal {
	return removal{
		any:  func(ctx context.Context) (bool, error) { return h.store.StaleEvents(ctx, before) },
		some: func(ctx context.Context) (int, error) { return h.store.DeleteEvents(ctx, before) },
	}
}
