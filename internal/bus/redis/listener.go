package redis

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
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
	return &listener{client: client, keeper: k, timeout: timeout, channels: channels, id: id, topics: make(map[string]*topic)}
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

var errSilent = errors.New("the server does not answer on the connection that listens")

// session listens on one connection until that breaks. hears is called when all subscriptions of
// before are there again.
func (l *listener) session(ctx context.Context, hears func()) error {
	n, err := l.connect(ctx)
	if err != nil {
		return err
	}
	defer l.disconnect(n)
	background, stop := context.WithCancel(ctx)
	defer stop()
	var work sync.WaitGroup
	defer work.Wait()
	defer func() { _ = n.sub.Close() }()
	defer stop()
	work.Go(func() { n.serve(background, l) })
	for {
		got, err := n.sub.Receive(ctx)
		if err != nil {
			if n.silent.Load() {
				return &unavailable{reasonDeaf, errSilent}
			}
			return err
		}
		n.last.Store(time.Now().UnixNano())
		switch m := got.(type) {
		case *goredis.Message:
			l.receive(m.Channel, m.Payload)
		case *goredis.Subscription:
			if m.Kind == "subscribe" && m.Channel == l.channels { // the last of those of before
				hears()
			} else if m.Kind == "subscribe" {
				l.confirm(m.Channel)
			}
		}
	}
}

// connect opens a connection and asks for all topics.
func (l *listener) connect(ctx context.Context) (*line, error) {
	n := &line{sub: l.client.Subscribe(ctx), names: make(map[string]struct{}), wake: make(chan struct{}, 1), over: make(chan struct{})}
	inTime, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	// Without a channel the connection to a cluster goes to any node, not always to the same one,
	// which may be down.
	if err := n.sub.Ping(inTime); err != nil {
		return nil, errors.Join(err, n.sub.Close())
	}
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil, errors.Join(goredis.ErrClosed, n.sub.Close())
	}
	var all []string
	for name, t := range l.topics {
		t.asked, t.unsure = true, 1
		all = append(all, l.channels+name)
	}
	l.line = n
	l.mu.Unlock()
	n.last.Store(time.Now().UnixNano())
	// Should that not be permitted, the answer comes before those to the topics.
	err := n.sub.Unsubscribe(inTime, l.channels+probed)
	if err == nil {
		err = n.sub.Subscribe(inTime, append(all, l.channels)...)
	}
	if err != nil {
		l.disconnect(n)
		return nil, errors.Join(err, n.sub.Close())
	}
	return n, nil
}

// disconnect says that nothing is heard any more.
func (l *listener) disconnect(n *line) {
	l.mu.Lock()
	l.line = nil
	for name, t := range l.topics {
		if len(t.subs) == 0 {
			delete(l.topics, name)
		}
		t.asked, t.unsure = false, 0
		if t.isHeard() {
			t.heard = make(chan struct{})
		}
		for s := range t.subs {
			t.subs[s] = true
		}
	}
	l.mu.Unlock()
	close(n.over)
	l.miss()
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

// line is one connection. Its owner is a session.
type line struct {
	sub    *goredis.PubSub
	last   atomic.Int64 // when something came, Unix nanoseconds
	silent atomic.Bool  // it was given up because nothing came

	mu    sync.Mutex
	names map[string]struct{} // topics that subscribers came to or left
	wake  chan struct{}
	over  chan struct{} // closed when it is not used any more
}

// change has a topic looked at: somebody came, or everybody left.
func (n *line) change(name string) {
	n.mu.Lock()
	n.names[name] = struct{}{}
	n.mu.Unlock()
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// serve tells the server which topics are wanted, and makes sure that it is there, until ctx ends.
func (n *line) serve(ctx context.Context, l *listener) {
	interval := max(l.timeout, time.Second)
	beat := time.NewTicker(interval)
	defer beat.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-n.wake:
			err = n.ask(ctx, l)
		case <-beat.C:
			if time.Since(time.Unix(0, n.last.Load())) > 2*interval {
				n.silent.Store(true)
				err = errSilent
			} else {
				err = n.sub.Ping(ctx)
			}
		}
		if err != nil {
			_ = n.sub.Close() // the session sees it
			return
		}
	}
}

// ask subscribes to topics that got their first subscriber and gives up those that lost the last.
func (n *line) ask(ctx context.Context, l *listener) error {
	n.mu.Lock()
	names := n.names
	n.names = make(map[string]struct{})
	n.mu.Unlock()
	var come, gone []string
	l.mu.Lock()
	for name := range names {
		t := l.topics[name]
		switch {
		case t == nil:
		case len(t.subs) > 0 && !t.asked:
			t.asked = true
			t.unsure++
			come = append(come, l.channels+name)
		case len(t.subs) == 0 && t.asked:
			t.asked = false
			if t.isHeard() {
				t.heard = make(chan struct{})
			}
			if t.unsure == 0 {
				delete(l.topics, name)
			}
			gone = append(gone, l.channels+name)
		}
	}
	l.mu.Unlock()
	inTime, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	if len(gone) > 0 {
		if err := n.sub.Unsubscribe(inTime, gone...); err != nil {
			return err
		}
	}
	if len(come) > 0 {
		return n.sub.Subscribe(inTime, come...)
	}
	return nil
}
