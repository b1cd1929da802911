package eventlog

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/internal/bus"
)

const (
	window = 512                    // stored events that an active run keeps in memory for its readers
	batch  = 64                     // events after which the store gets them
	delay  = 100 * time.Millisecond // after which it gets them in any case
)

// ErrLost is matched by the error of [Log.Save] when somebody else has written to the log.
var ErrLost = errors.New("the log is somebody else's")

// Store keeps events.
type Store interface {
	// AppendEvents adds events to the log of a run. Their numbers follow those that are there.
	AppendEvents(ctx context.Context, run string, events []Event) error
}

// Config is what a log needs. All fields are required.
type Config struct {
	Run   string
	Next  int // number of the next event
	Store Store
	Bus   bus.Bus
	Log   *zap.Logger
	// Lost is told when the store does not take events. It reports whether that is because somebody else
	// has written to the log; then it is not tried again.
	Lost func(error) bool
}

// Log is the log of a run that is active in this process. Get one with [New].
type Log struct {
	c Config

	mu     sync.Mutex
	events []Event // the newest ones; events[0].Seq == first
	first  int
	stored int           // events before this one are in the store
	shown  int           // while hushed, events before this one are visible
	hushed bool          // what comes is not visible yet
	ended  bool          // nothing is added any more
	over   bool          // the last event is visible
	left   bool          // nothing comes from here any more: the store has it all
	news   chan struct{} // closed when there is something new; nil when nobody waits
	timer  *time.Timer
	saving sync.Mutex // one save at a time, so that the store gets events in order
}

// New is the log of a run that is active from now on.
func New(c Config) *Log { return &Log{c: c, first: c.Next, stored: c.Next} }

// Topic is where readers of a run's log in other processes are told that there is more in the store.
func Topic(run string) string { return "run." + run }

// Run is the id of the run.
func (l *Log) Run() string { return l.c.Run }

// Append numbers an event, adds it and wakes the readers.
func (l *Log) Append(e Event) {
	l.mu.Lock()
	e.Seq = l.first + len(l.events)
	l.events = append(l.events, e)
	unsaved := e.Seq + 1 - l.stored
	if l.timer == nil {
		l.timer = time.AfterFunc(delay, l.saveInTime)
	}
	l.tell()
	l.mu.Unlock()
	if unsaved >= batch {
		l.saveInTime()
	}
}

// saveInTime saves what is there, now or, if that fails, a little later.
func (l *Log) saveInTime() {
	if err := l.Save(); err != nil && !errors.Is(err, ErrLost) {
		l.c.Log.Error("saving events failed, trying again", zap.String("run", l.c.Run), zap.Error(err))
	}
}

// tell wakes the readers in this process. The caller holds mu.
func (l *Log) tell() {
	if l.news != nil {
		close(l.news)
		l.news = nil
	}
}

// Hush keeps what comes from the readers until it is said otherwise: it tells of what is still to be saved.
func (l *Log) Hush(on bool) {
	l.mu.Lock()
	l.hushed, l.shown = on, l.first+len(l.events)
	l.tell()
	l.mu.Unlock()
	if !on {
		l.Publish()
	}
}

// Publish wakes the readers in other processes.
func (l *Log) Publish() {
	if err := l.c.Bus.Publish(context.Background(), Topic(l.c.Run), nil); err != nil {
		l.c.Log.Debug("telling other processes of events failed, they will look by themselves", zap.String("run", l.c.Run), zap.Error(err))
	}
}

// Save brings what is not stored yet into the store and drops what is beyond the window. What could
// not be saved is tried again after delay.
func (l *Log) Save() error {
	l.saving.Lock()
	defer l.saving.Unlock()
	pending := l.pending()
	if len(pending) == 0 {
		return nil
	}
	err := l.c.Store.AppendEvents(context.Background(), l.c.Run, pending)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err != nil && l.c.Lost(err):
		return fmt.Errorf("%w: %w", ErrLost, err)
	case err != nil:
		if l.timer == nil {
			l.timer = time.AfterFunc(delay, l.saveInTime)
		}
		return err
	}
	l.stored = pending[len(pending)-1].Seq + 1
	if drop := l.stored - window - l.first; drop > 0 {
		l.events = append([]Event(nil), l.events[drop:]...)
		l.first += drop
	}
	if !l.hushed {
		l.Publish()
	}
	return nil
}

// pending are the events that the store does not have. What is appended from now on starts a
// timer of its own.
func (l *Log) pending() []Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
	if l.ended {
		return nil
	}
	return l.events[l.stored-l.first : len(l.events) : len(l.events)]
}

// End adds the last events, which nobody sees yet, and returns all that the store does not
// have: the caller saves them with the run's end and then calls [Log.Reveal].
func (l *Log) End(last ...Event) []Event {
	l.saving.Lock()
	defer l.saving.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	if l.timer != nil {
		l.timer.Stop()
	}
	rest := append([]Event(nil), l.events[l.stored-l.first:]...)
	for _, e := range last {
		e.Seq = l.stored + len(rest)
		rest = append(rest, e)
	}
	return rest
}

// Reveal shows the readers the last events, once they are stored.
func (l *Log) Reveal(rest []Event) {
	l.mu.Lock()
	l.events = append(l.events[:l.stored-l.first:l.stored-l.first], rest...)
	l.over = true
	l.tell()
	l.mu.Unlock()
	l.Publish()
}

// Leave sends the readers to the store, where the run goes on or has gone on.
func (l *Log) Leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended, l.left = true, true
	if l.timer != nil {
		l.timer.Stop()
	}
	l.tell()
}

// Read returns events from a sequence number on. Without events, news is closed when there are
// some; when there is no news either, the store has what memory has no more. A log that has been
// left tells nothing. Beyond the end of a finished log stands its last event.
func (l *Log) Read(from int) (events []Event, news <-chan struct{}, left bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if from < l.first || l.left {
		return nil, nil, l.left
	}
	end := l.first + len(l.events)
	if l.hushed {
		end = max(l.shown, l.first)
	}
	if from >= end {
		if !l.over {
			if l.news == nil {
				l.news = make(chan struct{})
			}
			return nil, l.news, false
		}
		from = end - 1
	}
	return l.events[from-l.first : end-l.first : end-l.first], nil, false
}
