package agents

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/internal/bus"
	"github.com/svc-gateway/svc/scanner/redact"
)

const (
	logWindow = 512                    // stored events that an active run keeps in memory for its readers
	logBatch  = 64                     // events after which the store gets them
	logDelay  = 100 * time.Millisecond // after which it gets them in any case
)

// eventLog is the log of a run that is active in this process. Appending never waits for a
// reader; readers that fall behind the window go on from the store. Readers in this process are
// told of every event at once, those in others when it is in the store.
type eventLog struct {
	run     string
	store   Store
	bus     bus.Bus
	log     *zap.Logger
	secrets *redact.Secrets
	lost    func() // called when somebody else has written to the log

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

// newEventLog makes the log of a run whose next event has the number next.
func (h *Host) newEventLog(run string, next int, secrets *redact.Secrets, lost func()) *eventLog {
	return &eventLog{run: run, secrets: secrets, store: h.store, bus: h.bus, log: h.log, lost: lost, first: next, stored: next}
}

func topic(run string) string { return "run." + run }

// append numbers an event, adds it and wakes the readers.
func (l *eventLog) append(e Event) {
	l.mu.Lock()
	e.Seq = l.first + len(l.events)
	l.events = append(l.events, e)
	unsaved := e.Seq + 1 - l.stored
	if l.timer == nil {
		l.timer = time.AfterFunc(logDelay, l.saveInTime)
	}
	l.tell()
	l.mu.Unlock()
	if unsaved >= logBatch {
		l.saveInTime()
	}
}

// saveInTime saves what is there, now or, if that fails, a little later.
func (l *eventLog) saveInTime() {
	if err := l.save(); err != nil && !errors.Is(err, ErrConflict) {
		l.log.Error("saving events failed, trying again", zap.String("run", l.run), zap.Error(err))
	}
}

// tell wakes the readers in this process. The caller holds mu.
func (l *eventLog) tell() {
	if l.news != nil {
		close(l.news)
		l.news = nil
	}
}

// hush keeps what comes from the readers until it is said otherwise: it tells of what is still to be saved.
func (l *eventLog) hush(on bool) {
	l.mu.Lock()
	l.hushed, l.shown = on, l.first+len(l.events)
	l.tell()
	l.mu.Unlock()
	if !on {
		l.publish()
	}
}

// publish wakes the readers in other processes.
func (l *eventLog) publish() {
	if err := l.bus.Publish(context.Background(), topic(l.run), nil); err != nil {
		l.log.Debug("telling other processes of events failed, they will look by themselves", zap.String("run", l.run), zap.Error(err))
	}
}

// save brings what is not stored yet into the store and drops what is beyond the window. What could
// not be saved is tried again after logDelay.
func (l *eventLog) save() error {
	l.saving.Lock()
	defer l.saving.Unlock()
	pending := l.pending()
	if len(pending) == 0 {
		return nil
	}
	err := l.store.AppendEvents(context.Background(), l.run, pending)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case errors.Is(err, ErrConflict):
		l.lost()
		return err
	case err != nil:
		if l.timer == nil {
			l.timer = time.AfterFunc(logDelay, l.saveInTime)
		}
		return err
	}
	l.stored = pending[len(pending)-1].Seq + 1
	if drop := l.stored - logWindow - l.first; drop > 0 {
		l.events = append([]Event(nil), l.events[drop:]...)
		l.first += drop
	}
	if !l.hushed {
		l.publish()
	}
	return nil
}

// pending are the events that the store does not have. What is appended from now on starts a
// timer of its own.
func (l *eventLog) pending() []Event {
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

// end adds the last events, which nobody sees yet, and returns all that the store does not
// have: the caller saves them with the run's end and then calls [eventLog.reveal].
func (l *eventLog) end(last ...Event) []Event {
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

// reveal shows the readers the last events, once they are stored.
func (l *eventLog) reveal(rest []Event) {
	l.mu.Lock()
	l.events = append(l.events[:l.stored-l.first:l.stored-l.first], rest...)
	l.over = true
	l.tell()
	l.mu.Unlock()
	l.publish()
}

// leave sends the readers to the store, where the run goes on or has gone on.
func (l *eventLog) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended, l.left = true, true
	if l.timer != nil {
		l.timer.Stop()
	}
	l.tell()
}

// read returns events from a sequence number on. Without events, news is closed when there are
// some; when there is no news either, the store has what memory has no more. A log that has been
// left tells nothing. Beyond the end of a finished log stands its last event.
func (l *eventLog) read(from int) (events []Event, news <-chan struct{}, left bool) {
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
