package redis

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

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

var errSilent = errors.New("the server does not answer on the connection that listens")

// session listens on one connection until that breaks. hears is called when all subscriptions of
// before are there again.
func (l *listener) session(ctx context.Context, hears func()) error {
	n, err := l.connect(ctx)
	if err != nil {
		return err
	}
	background, stop := context.WithCancel(ctx)
	var work sync.WaitGroup
	defer func() {
		l.disconnect(n)
		stop()
		_ = n.sub.Close() // it may be closed already
		work.Wait()
	}()
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
	if l.line != n {
		names = nil
	}
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
