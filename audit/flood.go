package audit

import (
	"net/netip"
	"sync"
	"time"
)

// What callers whom nobody knows may add to the log in a minute. Beyond it they are counted.
const (
	singles      = 20  // records of their own for one sender
	logins       = 100 // and of logins, which tell what names are tried
	allSingles   = 500 // for all senders, and as many of logins
	maxSenders   = 512 // senders that are told apart; those beyond share one count
	floodMinute  = time.Minute
	floodPatient = time.Second // for a queue that is full
)

// flood keeps a caller who is refused again and again from filling the disk: it lets the first
// records of a minute pass and counts the others, by sender. What it holds is bounded, whoever
// sends how much.
type flood struct {
	node  string
	write func([]Event) error // queues prepared events

	mu      sync.Mutex
	window  window
	timer   *time.Timer // nil: nothing is counted
	closed  bool
	writing sync.WaitGroup
}

// alone counts records of their own.
type alone struct{ logins, others int }

// of is the count for an event, with its limit for one sender.
func (a *alone) of(e *Event) (n *int, limit int) {
	if e.Type == LoginFailed {
		return &a.logins, logins
	}
	return &a.others, singles
}

// window is what is known of one minute.
type window struct {
	minute  time.Time
	singles alone
	senders map[string]*tally
	others  *tally // of senders beyond maxSenders
}

// countable reports whether the event is of the kind that floods consist of: a request, a login or an
// injection of somebody unknown, or the refusal of somebody who sends too many.
func countable(e *Event) bool {
	switch e.Type {
	case Request:
		return e.User == "" || e.Code == tooMany
	case Injection: // svc_scan may stand alone, where everybody is unknown
		return e.User == ""
	case LoginFailed:
		return true
	}
	return false
}

const tooMany = 429 // the status of requests above a limit

// sender is what events are counted by: a user, or else an address. A host has 2⁶⁴ addresses in its
// IPv6 network, which counts as one.
func sender(e *Event) (user, address string) {
	if e.Type == Request && e.User != "" {
		return e.User, e.Address
	}
	if a, err := netip.ParseAddr(e.Address); err == nil && a.Unmap().Is6() {
		if p, err := a.WithZone("").Prefix(64); err == nil {
			return "", p.String()
		}
	}
	return "", e.Address
}

// take reports whether it has counted the event, so that it needs no record of its own.
func (f *flood) take(e *Event, now time.Time) bool {
	if !countable(e) {
		return false
	}
	user, address := sender(e)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return false
	}
	if minute := now.Truncate(floodMinute); !minute.Equal(f.window.minute) && f.timer == nil {
		f.window = window{minute: minute}
	}
	t := f.window.of(user, address)
	one, limit := t.singles.of(e)
	all, _ := f.window.singles.of(e)
	if t != f.window.others && *one < limit && *all < allSingles {
		*one++
		*all++
		return false
	}
	t.add(e, now)
	if f.timer == nil {
		f.arm(f.window.minute.Add(floodMinute).Sub(now))
	}
	return true
}

// of returns the tally of a sender.
func (w *window) of(user, address string) *tally {
	key := cut(user, maxWord) + "\x00" + cut(address, maxWord)
	if user != "" {
		key = cut(user, maxWord)
	}
	if t := w.senders[key]; t != nil {
		return t
	}
	if len(w.senders) < maxSenders {
		if w.senders == nil {
			w.senders = map[string]*tally{}
		}
		t := &tally{user: user, address: address}
		w.senders[key] = t
		return t
	}
	if w.others == nil {
		w.others = &tally{}
	}
	return w.others
}

// arm has the counts written after a while. The caller holds mu.
func (f *flood) arm(after time.Duration) {
	f.writing.Add(1)
	f.timer = time.AfterFunc(after, func() {
		defer f.writing.Done()
		_ = f.finish() // tried again
	})
}

// finish writes the counts and begins a new window. Counts that cannot be queued stay, and are
// written with those of a later minute.
func (f *flood) finish() error {
	f.mu.Lock()
	w := f.window
	f.window, f.timer = window{minute: time.Now().Truncate(floodMinute)}, nil
	f.mu.Unlock()
	err := f.write(w.events(f.node))
	if err == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, t := range w.senders {
		if t.count > 0 {
			f.window.of(t.user, t.address).merge(t)
		}
	}
	if w.others != nil {
		f.window.of("", "").merge(w.others)
	}
	if f.timer == nil && !f.closed {
		f.arm(floodMinute)
	}
	return err
}

// events are the records of a window, ready to be stored.
func (w *window) events(node string) []Event {
	var events []Event
	now := time.Now()
	add := func(t *tally) {
		e := t.event()
		if prepare(&e, node, now) == nil { // it has a type, and no call or duration
			events = append(events, e)
		}
	}
	for _, t := range w.senders {
		if t.count > 0 {
			add(t)
		}
	}
	if w.others != nil {
		add(w.others)
	}
	return events
}

// close writes what is counted. Nothing is counted afterwards.
func (f *flood) close() (err error) {
	f.mu.Lock()
	f.closed = true
	due := f.timer != nil && f.timer.Stop()
	f.mu.Unlock()
	if due {
		f.writing.Done()
		err = f.finish()
	}
	f.writing.Wait()
	return err
}
