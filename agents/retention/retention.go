// Package retention removes threads and events that are older than the settings want.
//
//	err := retention.Sweeper{Store: store, Audit: log, Log: logger, Used: used}.Sweep(ctx, policy, time.Now())
//
// What is removed is on record before, and how much it was afterwards. A sweep ends after a few seconds, so
// that others may have the disk; what is left then is for the next one. A Sweeper is safe for concurrent
// use, but two at once do the same work.
package retention

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/audit"
)

// Policy says how long threads and events are kept. What is zero is kept for ever. A thread that a
// run has is never removed, also not while the run waits.
type Policy struct {
	Threads   time.Duration // threads in which nothing has happened for so long
	Ephemeral time.Duration // the same for those that were made for a single run
	Events    time.Duration // what finished runs have told; messages stay
	Size      int64         // bytes of the store above which the oldest threads go, ephemeral ones first
}

const (
	batch = 100              // threads that are listed at a time
	rest  = 10 * time.Second // for how long a sweep goes on at most

	// leastAge is how long nothing has happened in a thread that is removed for the sake of the size.
	leastAge = time.Hour
)

// Store is where threads are. Package agents says what each method does.
type Store interface {
	HalfRemoved(ctx context.Context, limit int) ([]string, error)
	StaleThreads(ctx context.Context, ephemeral bool, before time.Time, limit int) ([]string, error)
	ExpiredThreads(ctx context.Context, now time.Time, limit int) ([]string, error)
	DeleteThread(ctx context.Context, id string, before time.Time) error
	StaleEvents(ctx context.Context, before time.Time) (bool, error)
	DeleteEvents(ctx context.Context, before time.Time) (int, error)
	Size(ctx context.Context) (int64, error)
}

// Sweeper removes what is old.
type Sweeper struct {
	Store Store
	Audit *audit.Log
	Log   *zap.Logger
	Used  func(error) bool // a thread is not removed, because it is used again or has gone
}

// Sweep removes what is older than the settings want. What is removed is on record before, and how
// much it was afterwards. It ends after a few seconds; what is left then is for the next sweep.
func (s Sweeper) Sweep(ctx context.Context, p Policy, now time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, rest)
	defer cancel()
	errs := []error{
		s.remove(ctx, "half removed threads", now, s.threads(time.Time{}, s.Store.HalfRemoved, nil)),
		s.remove(ctx, "expired threads", now, s.threads(now, s.expired(now), nil)),
	}
	for _, kind := range []struct {
		what string
		age  time.Duration
		some func(before time.Time) removal
	}{
		{"ephemeral threads", p.Ephemeral, func(before time.Time) removal { return s.threads(before, s.stale(true, before), nil) }},
		{"threads", p.Threads, func(before time.Time) removal { return s.threads(before, s.stale(false, before), nil) }},
		{"events", p.Events, s.events},
	} {
		if kind.age > 0 {
			before := now.Add(-kind.age)
			errs = append(errs, s.remove(ctx, kind.what, before, kind.some(before)))
		}
	}
	if p.Size > 0 {
		above := func(ctx context.Context) (bool, error) {
			size, err := s.Store.Size(ctx)
			return size > p.Size, err
		}
		before := now.Add(-leastAge)
		for _, ephemeral := range []bool{true, false} {
			errs = append(errs, s.remove(ctx, "threads above the size", before, s.threads(before, s.stale(ephemeral, before), above)))
		}
		if still, err := above(ctx); err == nil && still && ctx.Err() == nil {
			s.Log.Warn("the state of threads and runs takes more than retention.size, and no thread is old enough to be removed", zap.Int64("retention.size", p.Size))
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
func (s Sweeper) remove(ctx context.Context, what string, before time.Time, r removal) error {
	if there, err := r.any(ctx); ctx.Err() != nil {
		return nil
	} else if err != nil || !there {
		return err
	}
	input := map[string]any{"what": what, "before": before.UTC().Format(audit.TimeFormat)}
	text, _ := json.Marshal(input) // of strings and, later, a number
	return s.Audit.Around(ctx, audit.Event{Type: audit.Retention, Input: string(text)}, func(end *audit.Event) error {
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

func (s Sweeper) stale(ephemeral bool, before time.Time) lister {
	return func(ctx context.Context, limit int) ([]string, error) {
		return s.Store.StaleThreads(ctx, ephemeral, before, limit)
	}
}

// expired are threads whose own time was over at a time.
func (s Sweeper) expired(now time.Time) lister {
	return func(ctx context.Context, limit int) ([]string, error) { return s.Store.ExpiredThreads(ctx, now, limit) }
}

// threads removes threads that find finds, unless something has happened in them since a time, while
// there is a reason to.
func (s Sweeper) threads(before time.Time, find lister, reason func(context.Context) (bool, error)) removal {
	list := func(ctx context.Context, limit int) ([]string, error) {
		if reason != nil {
			if yes, err := reason(ctx); err != nil || !yes {
				return nil, err
			}
			limit = min(limit, batch/10) // and look again soon
		}
		return find(ctx, limit)
	}
	return removal{
		any: func(ctx context.Context) (bool, error) {
			ids, err := list(ctx, 1)
			return len(ids) > 0, err
		},
		some: func(ctx context.Context) (n int, err error) {
			ids, err := list(ctx, batch)
			for _, id := range ids {
				switch err := s.Store.DeleteThread(ctx, id, before); {
				case err != nil && s.Used(err): // it is used again, or somebody removed it
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
func (s Sweeper) events(before time.Time) removal {
	return removal{
		any:  func(ctx context.Context) (bool, error) { return s.Store.StaleEvents(ctx, before) },
		some: func(ctx context.Context) (int, error) { return s.Store.DeleteEvents(ctx, before) },
	}
}
