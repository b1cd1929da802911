package agents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/eventlog"
	"github.com/svc-gateway/svc/internal/bus"
)

// Begun is a run that has begun, and where in its thread's log.
type Begun struct {
	Handle
	First int // its first write
}

// Latest stands for the place of the run that began last, for readers of a thread.
const Latest = -1

// begunPage is how many runs of a thread are looked at together.
const begunPage = 50

// threadTopic is where it is told that a run of a thread begins, or goes on.
func threadTopic(thread string) string { return "thread." + thread }

// tellThread wakes the readers of a thread, in all processes.
func (h *Host) tellThread(thread string) {
	if err := h.bus.Publish(context.Background(), threadTopic(thread), nil); err != nil {
		h.log.Debug("telling other processes of a run failed, they will look by themselves", zap.String("thread", thread), zap.Error(err))
	}
}

// Begun yields the runs of a thread in the order in which they began, from the one on that a place in the
// thread's log belongs to, and then every other one as soon as it begins, in whatever process. A thread
// that is not there yet may come. When ctx ends, the last pair holds its cause; the error is
// [ErrThreadNotFound] for a thread of somebody else, and when the thread has been removed.
func (v View) Begun(ctx context.Context, thread string, from int) iter.Seq2[Begun, error] {
	return func(yield func(Begun, error) bool) {
		calls := v.rt.bus.Subscribe(threadTopic(thread))
		defer calls.Close()
		b := beginnings{v: v, thread: thread, from: from}
		for {
			list, err := b.look(ctx)
			if err != nil {
				if ctx.Err() != nil {
					err = context.Cause(ctx)
				}
				yield(Begun{}, err)
				return
			}
			for _, run := range list {
				if !yield(run, nil) {
					return
				}
			}
			if len(list) > 0 {
				continue
			}
			if err := called(ctx, calls); err != nil {
				yield(Begun{}, err)
				return
			}
		}
	}
}

// BeganAt is the place in a thread's log at which a run of it began, also of one that was taken back. The
// error is [ErrRunNotFound], also for a run that has not begun.
func (v View) BeganAt(ctx context.Context, thread, id string) (first int, err error) {
	if _, err := v.Thread(ctx, thread); err != nil {
		return 0, err
	}
	r, err := v.rt.store.Run(ctx, id)
	if err != nil {
		return 0, err
	}
	o := originOf(r, nil)
	if r.Thread != thread || o == nil {
		return 0, ErrRunNotFound
	}
	return o.first, nil
}

// Reachable reports whether a thread is the principal's to see, or not there yet.
func (v View) Reachable(ctx context.Context, thread string) (bool, error) {
	t, err := v.rt.store.Thread(ctx, thread)
	switch {
	case errors.Is(err, ErrThreadNotFound):
		return true, nil
	case err != nil:
		return false, err
	case !v.sees(t.Owner):
		v.foreign(ctx, "", thread)
		return false, nil
	}
	return true, nil
}

// LatestBegun is the run of a thread that began last, if one has. The error is [ErrThreadNotFound].
func (v View) LatestBegun(ctx context.Context, thread string) (run Begun, ok bool, err error) {
	b := beginnings{v: v, thread: thread, from: Latest, there: true}
	list, err := b.look(ctx)
	if err != nil || len(list) == 0 {
		return Begun{}, false, err
	}
	return list[0], true, nil
}

// called waits until something is told, or it is time to look in any case.
func called(ctx context.Context, calls *bus.Subscription) error {
	again := time.NewTimer(lookAgain)
	defer again.Stop()
	select {
	case <-calls.C():
	case <-again.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// beginnings is one reader's knowledge of a thread's runs.
type beginnings struct {
	v      View
	thread string
	from   int
	there  bool            // the thread has been seen
	seen   map[string]bool // runs that have begun, as far as the last look showed them; nil: none was taken
}

// look are the runs that have begun since the last look, oldest first.
func (b *beginnings) look(ctx context.Context) ([]Begun, error) {
	t, err := b.v.rt.store.Thread(ctx, b.thread)
	switch {
	case errors.Is(err, ErrThreadNotFound) && !b.there:
		return nil, nil
	case err != nil:
		return nil, err
	case !b.v.sees(t.Owner):
		b.v.foreign(ctx, "", b.thread)
		return nil, ErrThreadNotFound
	}
	b.there = true
	first := b.seen == nil
	var list []Begun
	seen := map[string]bool{}
	for before := ""; ; {
		page, err := b.v.rt.store.Runs(ctx, RunFilter{Thread: b.thread, Before: before, Limit: begunPage})
		if err != nil {
			return nil, fmt.Errorf("listing runs: %w", err)
		}
		fresh, err := b.fresh(ctx, page, seen)
		if err != nil {
			return nil, err
		}
		list = append(list, fresh...)
		enough := slices.ContainsFunc(fresh, func(r Begun) bool { return r.First <= b.from })
		if !first || b.from == Latest || enough || len(page) < begunPage {
			break
		}
		before = page[len(page)-1].ID
	}
	if len(seen) > 0 {
		b.seen = seen
	}
	// Of those at the same place the first ones had nothing to write, and the ids say which they were.
	slices.SortFunc(list, func(x, y Begun) int { return cmp.Or(x.First-y.First, strings.Compare(x.ID, y.ID)) })
	switch {
	case !first || len(list) == 0:
	case b.from == Latest:
		list = list[len(list)-1:]
	default:
		at := 0
		for i, r := range list {
			if r.First <= b.from {
				at = i
			}
		}
		list = list[at:]
	}
	return list, nil
}

// fresh are the runs of a list that have begun and were not seen before, and notes all that have begun.
// Who wants the latest alone gets those that may be it.
func (b *beginnings) fresh(ctx context.Context, page []RunInfo, seen map[string]bool) ([]Begun, error) {
	var list []Begun
	latest := time.Time{}
	for _, info := range page {
		if info.Status == Pending || info.Hidden {
			continue
		}
		seen[info.ID] = true
		if b.seen[info.ID] {
			continue
		}
		if b.seen == nil && b.from == Latest {
			if !latest.IsZero() && info.Status.Final() && info.Updated.Before(latest) {
				continue // it was over before another one was
			}
			latest = info.Updated
		}
		r, err := b.v.rt.store.Run(ctx, info.ID)
		if errors.Is(err, ErrRunNotFound) || errors.Is(err, ErrUnreadable) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading a run: %w", err)
		}
		o := originOf(r, r.Frames[0].Messages[:min(r.Input, len(r.Frames[0].Messages))])
		if o == nil {
			delete(seen, info.ID)
			continue
		}
		h := b.v.handle(info)
		h.origin = o
		list = append(list, Begun{h, o.first})
	}
	return list, nil
}

// Told are events of the run from a sequence number on that have been told already; none: all have been
// read.
func (h Handle) Told(ctx context.Context, from int) ([]eventlog.Event, error) {
	if a := h.host.activeRun(h.ID); a != nil {
		if events, _, left := a.log.Read(from); !left && len(events) > 0 {
			return since(events, from), nil
		}
	}
	events, err := h.host.stored(ctx, h.ID, from)
	return since(events, from), err
}

// since drops what is before a number: beyond its end, a log tells its last event again.
func since(events []eventlog.Event, from int) []eventlog.Event {
	for len(events) > 0 && events[0].Seq < from {
		events = events[1:]
	}
	return events
}
