// Package turns shares out a few places for work that keeps a processor busy, so that a lot of it does
// not keep out everything else, and one caller's not everybody else's.
//
//	q := turns.New(runtime.GOMAXPROCS(0) - 1)
//	t := q.Join(user)
//	if err := t.Take(ctx, 30*time.Second); err != nil {
//		// 503: errors.Is(err, turns.ErrBusy)
//	}
//	defer t.Give()
//
// # How
//
// Who wants to work takes a place, gives it back after a few milliseconds and takes one again. When a
// place is free it goes to the holders in turn, and of one holder's works to the one that joined first:
// so works of one holder end one after the other rather than all at the end.
//
// # Concurrency
//
// All methods of a Queue are safe for concurrent use. A Turn belongs to one goroutine at a time.
package turns

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// ErrBusy is returned when there was no place in time.
var ErrBusy = errors.New("too much work is waiting at present")

// Queue is a number of places. Make it with New.
type Queue struct {
	mu      sync.Mutex
	free    int
	joined  uint64             // how many have
	waiting map[string][]*Turn // by holder, those that joined first at the front
	holders []string           // of those that wait, the next one first
}

// New returns a queue with so many places, at least one.
func New(places int) *Queue {
	return &Queue{free: max(1, places), waiting: map[string][]*Turn{}}
}

// Turn is one work of a holder.
type Turn struct {
	q      *Queue
	holder string
	number uint64        // which one it was to join
	called chan struct{} // closed when it has got a place; nil while it does not wait
	has    bool
}

// Join begins a work of a holder, such as a user. It has no place yet.
func (q *Queue) Join(holder string) *Turn {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.joined++
	return &Turn{q: q, holder: holder, number: q.joined}
}

// Take takes a place, and waits for one as long as patience says. The error is ErrBusy, or the
// context's cause. Who has a place keeps it.
func (t *Turn) Take(ctx context.Context, patience time.Duration) error {
	called := t.q.take(t)
	if called == nil {
		return nil
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	err := ErrBusy
	select {
	case <-called:
		return nil
	case <-late.C:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	return t.q.leave(t, err)
}

// Give gives the place back, if there is one. It reports whether somebody else waited for it.
func (t *Turn) Give() (wanted bool) {
	q := t.q
	q.mu.Lock()
	defer q.mu.Unlock()
	if !t.has {
		return false
	}
	t.has = false
	return q.pass()
}

// take gives t a place, or returns what tells that it has got one.
func (q *Queue) take(t *Turn) (called <-chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case t.has:
		return nil
	case q.free > 0:
		q.free--
		t.has = true
		return nil
	}
	line := q.waiting[t.holder]
	if len(line) == 0 {
		q.holders = append(q.holders, t.holder)
	}
	at, _ := slices.BinarySearchFunc(line, t.number, func(o *Turn, number uint64) int {
		if o.number < number {
			return -1
		}
		return 1
	})
	q.waiting[t.holder] = slices.Insert(line, at, t)
	t.called = make(chan struct{})
	return t.called
}

// pass hands a place that has become free to who is next.
func (q *Queue) pass() (wanted bool) {
	if len(q.holders) == 0 {
		q.free++
		return false
	}
	holder := q.holders[0]
	next := q.waiting[holder][0]
	q.holders = q.holders[1:]
	if line := q.waiting[holder][1:]; len(line) > 0 {
		q.waiting[holder] = line
		q.holders = append(q.holders, holder)
	} else {
		delete(q.waiting, holder)
	}
	next.has = true
	close(next.called)
	next.called = nil
	return true
}

// leave takes t, which waits no longer, out of its line, unless it has just been called.
func (q *Queue) leave(t *Turn, err error) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if t.has {
		return nil
	}
	t.called = nil
	line := q.waiting[t.holder]
	line = slices.Delete(line, slices.Index(line, t), slices.Index(line, t)+1)
	if len(line) > 0 {
		q.waiting[t.holder] = line
		return err
	}
	delete(q.waiting, t.holder)
	q.holders = slices.DeleteFunc(q.holders, func(holder string) bool { return holder == t.holder })
	return err
}
