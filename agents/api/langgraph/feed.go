package langgraph

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/api/rest"
)

// recent is how long ago a run may have ended that a reader of its thread is told of without having asked
// for it.
const recent = time.Minute

// feed tells one client of the events of a thread, run after run, as its subscriptions say. One that is
// added later is told first what the others were told of the run.
type feed struct {
	d      *dialect
	view   agents.View
	thread string
	put    func([]event) error // writes to the client; the error is the connection's

	lull lull

	mu    sync.Mutex
	subs  []subscription
	run   *agents.Handle // that was told of last; nil: none
	first int            // its first write
	told  int64          // its events so far
}

type subscription struct {
	id string
	Filter
}

// wants reports whether any subscription wants an event. The caller holds mu.
func (f *feed) wants(c channel, name string, ns []string) bool {
	return slices.ContainsFunc(f.subs, func(s subscription) bool { return s.wants(c, name, ns) })
}

// follow tells of events until ctx ends, or the service stops and nothing is under way. With since, those
// after this number; else those of the latest run, if it is under way or has just ended, and of all that
// follow.
func (f *feed) follow(ctx context.Context, since *int64) error {
	still, done := f.lull.watch(ctx)
	defer done()
	from, after := agents.Latest, int64(0)
	if since != nil {
		from, after = int(*since>>indexBits), *since
	}
	first := true
	for run, err := range f.view.Begun(still, f.thread, from) {
		if err != nil {
			return err
		}
		old := first && since == nil && run.Status.Final() && time.Since(run.Updated) > recent
		first = false
		if old {
			continue
		}
		if err := f.tell(still, run, after); err != nil {
			if cause := context.Cause(still); cause != nil && !errors.Is(err, errGone) {
				return cause
			}
			return err
		}
	}
	return nil
}

// errGone means that the client's connection is.
var errGone = errors.New("the client has gone")

// tell tells of a run to its end, without what came up to a number.
func (f *feed) tell(ctx context.Context, run agents.Begun, after int64) error {
	t := newTranslator(f.d.about(run.RunInfo), nil, true)
	c := newChronicle(t, run.First, f.wants)
	opening, err := rest.Aside(func() (agents.Opening, error) { return run.Opening(ctx) })
	if err != nil {
		return err
	}
	step := func(follow func()) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		follow()
		events := slices.DeleteFunc(c.take(), func(e event) bool { return e.seq <= after })
		if len(events) > 0 {
			if f.put(events) != nil {
				return errGone
			}
		}
		f.run, f.first, f.told = &run.Handle, run.First, c.next
		return f.lull.set(!t.paused && !t.over)
	}
	if err := step(func() { t.open(opening) }); err != nil {
		return err
	}
	for events, err := range run.Follow(ctx, 0) {
		for len(events) > 0 && err == nil {
			err = step(func() {
				for len(events) > 0 && c.size < piece {
					t.add(events[0])
					events = events[1:]
				}
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// subscribe adds a subscription, which is told first what was told of the present run already. It returns
// how many events that were.
func (f *feed) subscribe(ctx context.Context, s subscription) (n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.subs) == maxSubscriptions {
		return 0, rest.Invalid(fmt.Sprintf("a connection has %d subscriptions at most", maxSubscriptions))
	}
	if f.run != nil {
		c, err := f.d.replayed(ctx, *f.run, f.first, s.wants, f.told)
		if err != nil {
			return 0, err
		}
		events := slices.DeleteFunc(c.take(), func(e event) bool { return e.seq > c.base+f.told })
		if n = len(events); n > 0 && f.put(events) != nil {
			return 0, errGone
		}
	}
	f.subs = append(f.subs, s)
	return n, nil
}

// unsubscribe takes a subscription away, and reports whether it was there.
func (f *feed) unsubscribe(id string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := len(f.subs)
	f.subs = slices.DeleteFunc(f.subs, func(s subscription) bool { return s.id == id })
	return len(f.subs) < before
}

// replayed has a chronicle tell what a run has told so far, or at least so many of its events.
func (d *dialect) replayed(ctx context.Context, run agents.Handle, first int, wants func(channel, string, []string) bool, least int64) (*chronicle, error) {
	t := newTranslator(d.about(run.RunInfo), nil, true)
	c := newChronicle(t, first, wants)
	opening, err := rest.Aside(func() (agents.Opening, error) { return run.Opening(ctx) })
	if err != nil {
		return nil, err
	}
	t.open(opening)
	for from := 0; c.next < least; {
		events, err := run.Told(ctx, from)
		if err != nil || len(events) == 0 {
			return c, err
		}
		for _, e := range events {
			t.add(e)
			from = e.Seq + 1
		}
	}
	return c, nil
}
