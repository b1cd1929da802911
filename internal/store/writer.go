package store

import (
	"fmt"
	"time"
)

const (
	retryEvery   = 250 * time.Millisecond // between attempts while commits fail
	lookAfter    = time.Second            // after a commit the files are looked at, and again
	lookMost     = time.Minute            // after twice the time, up to this
	commitSooner = 512                    // queued operations that are company enough
	maxPerCommit = 4096                   // operations after which a transaction takes no more
	trimEvery    = 2000                   // operations, see trim
)

// writer is the one goroutine that changes the database.
type writer struct {
	d       *DB
	urgent  <-chan *op // nil once closed
	queued  <-chan *op
	closing bool

	// Operations received, and those that are run in the open transaction.
	next, nextUrgent []*op
	ran, ranUrgent   []*op

	values    []any             // of a statement's parameters; reused
	multirow  map[string]string // a query of one row → that of several, see multiply; empty where there is none
	untrimmed int               // operations since the last trim
	look      *time.Timer
}

func newWriter(d *DB) *writer {
	return &writer{d: d, urgent: d.urgent, queued: d.queued, multirow: make(map[string]string)}
}

func (w *writer) loop() {
	defer close(w.d.done)
	w.look = time.NewTimer(lookAfter)
	defer w.look.Stop()
	for {
		w.wait()
		if w.d.Err() == nil || w.recovered() {
			w.commit()
		}
		if w.closing {
			w.gather()
			if len(w.nextUrgent) == 0 && (len(w.next) == 0 || w.d.Err() != nil) {
				break
			}
		}
	}
	if n := len(w.next); n > 0 {
		w.d.lost = fmt.Errorf("closing the database: %d queued operations were not written: %w", n, w.d.Err())
	}
}

// wait returns when there is something to commit, or to try again.
func (w *writer) wait() {
	if w.closing {
		return
	}
	if w.d.Err() != nil {
		// What is queued stays in its channel, which fills up and makes callers wait.
		retry := time.NewTimer(retryEvery)
		defer retry.Stop()
		select {
		case o, ok := <-w.urgent:
			w.addUrgent(o, ok)
		case <-retry.C:
		}
		return
	}
	if len(w.next)+len(w.nextUrgent) > 0 {
		return
	}
	for pause := lookAfter; ; pause = min(2*pause, lookMost) {
		w.look.Reset(pause)
		select {
		case o, ok := <-w.urgent:
			w.addUrgent(o, ok)
		case o, ok := <-w.queued:
			if w.addQueued(o, ok); ok {
				w.linger()
			}
		case <-w.look.C:
			err := w.d.place.check()
			if err == nil {
				continue
			}
			w.abort(err)
		}
		return
	}
}

// linger waits, after a first queued operation, until somebody wants a commit, enough have come, or
// Options.Linger is over. Queue tells about "enough", so that the writer is not woken by each one.
func (w *writer) linger() {
	t := time.NewTimer(w.d.opts.Linger)
	defer t.Stop()
	select {
	case o, ok := <-w.urgent:
		w.addUrgent(o, ok)
	case <-w.d.enough:
	case <-t.C:
	}
}

func (w *writer) addUrgent(o *op, ok bool) {
	if !ok {
		w.urgent, w.closing = nil, true
		return
	}
	w.nextUrgent = append(w.nextUrgent, o)
}

func (w *writer) addQueued(o *op, ok bool) {
	if !ok {
		w.queued, w.closing = nil, true
		return
	}
	w.next = append(w.next, o)
}

// gather takes what has arrived without waiting: first the urgent operations, then all the queued
// ones, so that everything queued before an urgent one is there to be run before it.
func (w *writer) gather() {
	w.gatherUrgent()
	for n := len(w.d.queued); n > 0; n-- {
		w.addQueued(<-w.d.queued, true)
	}
}

func (w *writer) gatherUrgent() {
	for more := true; more; {
		select {
		case o, ok := <-w.urgent:
			w.addUrgent(o, ok)
		default:
			more = false
		}
	}
}

// clean empties s and lets go of what it held.
func clean[T any](s []T) []T {
	clear(s)
	return s[:0]
}
