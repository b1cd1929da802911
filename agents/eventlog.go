package agents

import (
	"context"
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
// reader; readers that fall behind the window go on from the store.
type eventLog struct {
	run   string
	store Store
	bus   bus.Bus
	log   *zap.Logger

	secrets *redact.Secrets

	mu     sync.Mutex
	events []Event // the newest ones; events[0].Seq == first
	first  int
	stored int  // events before this one are in the store
	ended  bool // nothing is added any more
	over   bool // the last event is visible
	timer  *time.Timer
	saving sync.Mutex // one save at a time, so that the store gets events in order
}

func (h *Host) newEventLog(run string, secrets *redact.Secrets) *eventLog {
	return &eventLog{run: run, secrets: secrets, store: h.store, bus: h.bus, log: h.log}
}

func topic(run string) string { return "run." + run }

// append numbers an event, adds it and wakes the readers.
func (l *eventLog) append(e Event) {
	l.mu.Lock()
	e.Seq = l.first + len(l.events)
	l.events = append(l.events, e)
	unsaved := e.Seq + 1 - l.stored
	if l.timer == nil {
		l.timer = time.AfterFunc(logDelay, l.save)
	}
	l.mu.Unlock()
	if unsaved >= logBatch {
		l.save()
	}
	l.poke()
}

func (l *eventLog) poke() {
	if err := l.bus.Publish(context.Background(), topic(l.run), nil); err != nil {
		l.log.Warn("event fan-out failed", zap.String("run", l.run), zap.Error(err))
	}
}

// save brings what is not stored yet into the store and drops what is beyond the window.
func (l *eventLog) save() {
	l.saving.Lock()
	defer l.saving.Unlock()
	pending := l.pending()
	if len(pending) == 0 {
		return
	}
	err := l.store.AppendEvents(context.Background(), l.run, pending)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.log.Error("saving events failed, trying again", zap.String("run", l.run), zap.Error(err))
		if l.timer == nil {
			l.timer = time.AfterFunc(logDelay, l.save)
		}
		return
	}
	l.stored = pending[len(pending)-1].Seq + 1
	if drop := l.stored - logWindow - l.first; drop > 0 {
		l.events = append([]Event(nil), l.events[drop:]...)
		l.first += drop
	}
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
	l.mu.Unlock()
	l.poke()
}

// read returns events from a sequence number on, and false when they are no longer in memory.
// Beyond the end of a finished log stands its last event.
func (l *eventLog) read(from int) ([]Event, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if from < l.first {
		return nil, false
	}
	if end := l.first + len(l.events); from >= end {
		if !l.over {
			return nil, true
		}
		from = end - 1
	}
	return l.events[from-l.first : len(l.events) : len(l.events)], true
}
