package redis

import (
	"context"
	"strings"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/svc-gateway/svc/internal/bus"
)

// listener is the one connection on which this process hears the others, and its subscribers.
type listener struct {
	client   goredis.UniversalClient
	keeper   *keeper
	timeout  time.Duration
	channels string // begins the name of every topic's channel; alone it is the channel of gaps
	id       string // begins every message of this process

	mu     sync.RWMutex
	topics map[string]*topic
	line   *line // nil while there is no connection
	closed bool
}

// topic is what the process's subscribers have in common.
type topic struct {
	subs   map[*bus.Subscription]bool // true: it was told nothing of a time in which nobody listened
	asked  bool                       // the server was asked for it on this connection
	unsure int                        // how often, without an answer so far
	heard  chan struct{}              // closed when the server sends its messages
}

func newListener(client goredis.UniversalClient, k *keeper, timeout time.Duration, channels, id string) *listener {
	l := &listener{client: client, keeper: k, timeout: timeout, channels: channels, id: id, topics: make(map[string]*topic)}
	k.miss = l.miss
	return l
}

// local delivers a message of this process.
func (l *listener) local(name string, message []byte) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if t := l.topics[name]; t != nil {
		for s := range t.subs {
			s.Deliver(message)
		}
	}
}

func (l *listener) subscribe(name string) *bus.Subscription {
	var s *bus.Subscription
	s = bus.NewSubscription(func() { l.leave(name, s) })
	l.mu.Lock()
	t := l.topics[name]
	if t == nil {
		t = &topic{subs: make(map[*bus.Subscription]bool), heard: make(chan struct{})}
		l.topics[name] = t
	}
	line, heard := l.line, t.heard
	t.subs[s] = false
	if line == nil {
		t.subs[s] = true
	} else if !t.asked {
		line.change(name)
	}
	l.mu.Unlock()
	if line == nil {
		return s
	}
	late := time.NewTimer(l.timeout)
	defer late.Stop()
	select {
	case <-heard:
		return s
	case <-line.over: // it was told, with all others
	case <-late.C:
		l.mu.Lock()
		defer l.mu.Unlock()
		if _, open := t.subs[s]; open && !t.isHeard() {
			t.subs[s] = true
		}
	}
	return s
}

func (t *topic) isHeard() bool {
	select {
	case <-t.heard:
		return true
	default:
		return false
	}
}

func (l *listener) leave(name string, s *bus.Subscription) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.topics[name]
	delete(t.subs, s)
	switch {
	case len(t.subs) > 0:
	case l.line != nil && t.asked:
		l.line.change(name)
	case t.unsure == 0:
		delete(l.topics, name)
	}
}

// miss tells all subscribers that messages may be missing.
func (l *listener) miss() {
	l.mu.RLock()
	defer l.mu.RUnlock()
	for _, t := range l.topics {
		for s := range t.subs {
			s.Miss()
		}
	}
}

// run listens until ctx ends or close is called. first is closed when the first attempt has shown
// whether it can.
func (l *listener) run(ctx context.Context, first chan struct{}) {
	pause, tried := minPause, false
	attempted := sync.OnceFunc(func() { close(first) })
	defer attempted()
	for ctx.Err() == nil {
		err := l.session(ctx, func() {
			pause, tried = minPause, false
			l.keeper.heard(nil, false)
			attempted()
		})
		if ctx.Err() != nil {
			return
		}
		l.keeper.heard(err, tried)
		attempted()
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
		pause, tried = min(2*pause, maxPause), true
	}
}

// confirm notes that the server sends the messages of a channel from now on.
func (l *listener) confirm(channel string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	name := strings.TrimPrefix(channel, l.channels)
	t := l.topics[name]
	if t == nil {
		return
	}
	if t.unsure--; t.unsure > 0 {
		return
	}
	if !t.asked { // nobody wants it any more
		if len(t.subs) == 0 {
			delete(l.topics, name)
		}
		return
	}
	if !t.isHeard() {
		close(t.heard)
	}
	for s, missed := range t.subs {
		if missed {
			t.subs[s] = false
			s.Miss()
		}
	}
}

// receive delivers a message of another process; those of this one are there already.
func (l *listener) receive(channel, payload string) {
	if len(payload) < len(l.id) || payload[:len(l.id)] == l.id {
		return
	}
	if channel == l.channels {
		l.miss()
		return
	}
	l.local(strings.TrimPrefix(channel, l.channels), []byte(payload[len(l.id):]))
}

// close ends run. Nothing is heard afterwards.
func (l *listener) close() {
	l.mu.Lock()
	l.closed = true
	n := l.line
	l.mu.Unlock()
	if n != nil {
		_ = n.sub.Close() // it may be closed already
	}
}
