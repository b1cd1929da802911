package audit

import (
	"net/netip"
	"slices"
	"sync"
	"time"
)

// What a minute adds to the log at most, of each class. Beyond it events are counted.
const (
	allSingles   = 500 // records of their own
	maxSenders   = 256 // senders that are told apart, fewer than allSingles; those beyond share one count
	floodMinute  = time.Minute
	floodPatient = time.Second // for a queue that is full
)

// class is a kind of events that floods consist of. Each has a table of its own, so that a flood of
// one kind, which may be cheap, hides nothing of the others.
type class int

const (
	strangers  class = iota // requests of somebody unknown
	limited                 // requests of a user, refused because there are too many
	logins                  // that failed
	injections              // svc_scan may stand alone, where everybody is unknown
	classes                 // how many there are
)

// classOf returns the class of an event that may be counted. What a user was let in for is never
// counted, whatever the answer: 429 may be the answer of what stands behind the gateway.
func classOf(e *Event) (c class, ok bool) {
	switch {
	case e.Type == LoginFailed:
		return logins, true
	case e.Type == Injection && e.User == "":
		return injections, true
	case e.Type == Request && e.User == "":
		return strangers, true
	case e.Type == Request && slices.Contains(e.Reasons, RateLimited):
		return limited, true
	}
	return 0, false
}

// singles is how many events of one sender have records of their own.
func (c class) singles() int {
	if c == logins {
		return 100 // they tell what names are tried
	}
	return 20
}

// record is the type of the record that has the counts.
func (c class) record() string {
	switch c {
	case logins:
		return FloodLogin
	case injections:
		return FloodInjection
	}
	return Flood
}

// sender is what events are counted by: a user, or else an address. A host has 2⁶⁴ addresses in its
// IPv6 network, which counts as one.
func (c class) sender(e *Event) (user, address string) {
	if c == limited {
		return e.User, ""
	}
	if a, err := netip.ParseAddr(e.Address); err == nil && a.Unmap().Is6() {
		if p, err := a.WithZone("").Prefix(64); err == nil {
			return "", p.String()
		}
	}
	return "", e.Address
}

// flood keeps a sender who is refused again and again, or is not known, from filling the disk: it
// lets the first events of a minute pass and counts the others, by class and sender. What it holds is
// bounded, whoever sends how much.
type flood struct {
	node  string
	write func([]Event) error // queues prepared events

	mu      sync.Mutex
	window  window
	timer   *time.Timer // nil: nothing is counted
	closed  bool
	closing sync.Once
	writing sync.WaitGroup
}

// window is what is known of one minute.
type window struct {
	minute time.Time
	tables [classes]table
}

// table is what is known of the events of one class.
type table struct {
	singles int // events with a record of their own
	senders map[string]*tally
	others  *tally // of senders beyond maxSenders
}

// take reports whether it has counted the event, so that it needs no record of its own.
func (f *flood) take(e *Event, now time.Time) bool {
	c, ok := classOf(e)
	if !ok {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return false
	}
	if minute := now.Truncate(floodMinute); !minute.Equal(f.window.minute) && f.timer == nil {
		f.window = window{minute: minute}
	}
	table := &f.window.tables[c]
	t := table.of(c.sender(e))
	if table.singles < allSingles && (t == table.others || t.singles < c.singles()) {
		t.singles++
		table.singles++
		return false
	}
	t.add(e, now)
	if f.timer == nil {
		f.arm(f.window.minute.Add(floodMinute).Sub(now))
	}
	return true
}

// of returns the tally of a sender, who has a user or an address.
func (b *table) of(user, address string) *tally {
	key := cut(user+address, maxWord)
	if t := b.senders[key]; t != nil {
		return t
	}
	if len(b.senders) < maxSenders {
		if b.senders == nil {
			b.senders = map[string]*tally{}
		}
		t := &tally{user: user, address: address}
		b.senders[key] = t
		return t
	}
	return b.rest()
}

// rest returns the tally of the senders that are not told apart.
func (b *table) rest() *tally {
	if b.others == nil {
		b.others = &tally{shared: true}
	}
	return b.others
}

// counted are the tallies that have counts.
func (b *table) counted() (all []*tally) {
	for _, t := range b.senders {
		if t.count > 0 {
			all = append(all, t)
		}
	}
	if b.others != nil && b.others.count > 0 {
		all = append(all, b.others)
	}
	return all
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
	events := w.events(f.node)
	if len(events) == 0 {
		return nil
	}
	err := f.write(events)
	if err == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for c := range w.tables {
		b := &f.window.tables[c]
		for _, t := range w.tables[c].counted() {
			if t.shared {
				b.rest().merge(t)
			} else {
				b.of(t.user, t.address).merge(t)
			}
		}
	}
	if f.timer == nil && !f.closed {
		f.arm(floodMinute)
	}
	return err
}

// events are the records of a window, ready to be stored.
func (w *window) events(node string) (events []Event) {
	now := time.Now()
	for c := range w.tables {
		for _, t := range w.tables[c].counted() {
			e := t.event()
			e.Type = class(c).record()
			if prepare(&e, node, now) == nil { // it has a type, and no call or duration
				events = append(events, e)
			}
		}
	}
	return events
}

// close writes what is counted, also what the timer could not write just now. Nothing is counted
// afterwards.
func (f *flood) close() (err error) {
	f.closing.Do(func() {
		f.mu.Lock()
		f.closed = true
		if f.timer != nil && f.timer.Stop() {
			f.writing.Done()
		}
		f.mu.Unlock()
		f.writing.Wait()
		err = f.finish()
	})
	return err
}
