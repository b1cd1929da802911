package eventlog_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/eventlog"
	"github.com/svc-gateway/svc/internal/bus"
)

// store keeps the events of one run.
type store struct {
	mu     sync.Mutex
	events []eventlog.Event
	err    error
}

func (s *store) AppendEvents(_ context.Context, _ string, events []eventlog.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.events = append(s.events, events...)
	}
	return s.err
}

func newLog(s *store, next int) *eventlog.Log {
	return eventlog.New(eventlog.Config{
		Run: "run", Next: next, Store: s, Bus: bus.NewMemory(), Log: zap.NewNop(), Lost: func(err error) bool { return errors.Is(err, errTaken) },
	})
}

var errTaken = errors.New("taken")

// contents are the texts of events, which are numbered from first on.
func contents(t *testing.T, first int, events []eventlog.Event) (all []string) {
	t.Helper()
	for i, e := range events {
		if e.Seq != first+i {
			t.Errorf("event %d has the number %d, want %d", i, e.Seq, first+i)
		}
		all = append(all, e.Content)
	}
	return all
}

func TestLog(t *testing.T) {
	s := new(store)
	l := newLog(s, 7)
	if events, news, left := l.Read(7); len(events) > 0 || news == nil || left {
		t.Errorf("an empty log tells %v", events)
	}
	l.Append(eventlog.Event{Content: "a"})
	l.Append(eventlog.Event{Content: "b"})
	if events, news, _ := l.Read(3); events != nil || news != nil {
		t.Error("what was before the log is the store's")
	}
	if err := l.Save(); err != nil {
		t.Fatal(err)
	}
	l.Hush(true)
	l.Append(eventlog.Event{Content: "paused"})
	events, _, _ := l.Read(7)
	if diff := cmp.Diff([]string{"a", "b"}, contents(t, 7, events)); diff != "" {
		t.Error("while it is hushed: " + diff)
	}
	_, news, _ := l.Read(9)
	l.Hush(false)
	<-news
	rest := l.End(eventlog.Event{Content: "done"})
	if diff := cmp.Diff([]string{"paused", "done"}, contents(t, 9, rest)); diff != "" {
		t.Error("what is left to be saved: " + diff)
	}
	if events, _, _ := l.Read(10); len(events) > 0 {
		t.Error("the end is seen before it is revealed")
	}
	l.Reveal(rest)
	for _, from := range []int{10, 11, 500} { // beyond the end stands the last event
		events, _, _ := l.Read(from)
		if diff := cmp.Diff([]string{"done"}, contents(t, 10, events)); diff != "" {
			t.Error("at the end: " + diff)
		}
	}
	if diff := cmp.Diff([]string{"a", "b"}, contents(t, 7, s.events)); diff != "" {
		t.Error("the store has what was saved: " + diff)
	}
}

func TestLogOfSomebodyElse(t *testing.T) {
	s := &store{err: errTaken}
	l := newLog(s, 0)
	l.Append(eventlog.Event{Content: "a"})
	if err := l.Save(); !errors.Is(err, eventlog.ErrLost) || !errors.Is(err, errTaken) {
		t.Errorf("got %v, want ErrLost and what the store said", err)
	}
	l.Leave()
	if _, _, left := l.Read(0); !left {
		t.Error("readers are not sent to the store")
	}
}

// A reader in memory is told of everything, in order, while the store gets it in pieces.
func TestReadWhileAppending(t *testing.T) {
	const n = 2000
	s := new(store)
	l := newLog(s, 0)
	var reading sync.WaitGroup
	for range 4 {
		reading.Go(func() {
			for from := 0; from < n; {
				events, news, _ := l.Read(from)
				switch {
				case len(events) > 0:
					if events[0].Seq != from {
						t.Errorf("got %d, want %d", events[0].Seq, from)
						return
					}
					from += len(events)
				case news != nil:
					<-news
				default: // memory does not go back that far
					s.mu.Lock()
					from = len(s.events)
					s.mu.Unlock()
				}
			}
		})
	}
	for range n {
		l.Append(eventlog.Event{Type: eventlog.Chunk})
	}
	reading.Wait()
	l.End()
	contents(t, 0, s.events)
}
