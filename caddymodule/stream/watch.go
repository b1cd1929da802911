package stream

import (
	"errors"
	"fmt"
	"time"

	"github.com/svc-gateway/svc/policy"
)

// tolerated is how many checks of a principal in a row may fail for technical reasons. One
// hiccup of the store must not end every stream; a store that stays away must not keep a
// revoked one open.
const tolerated = 1

// errUnresolved ends a stream of which nobody can say any more who it is for.
var errUnresolved = errors.New("resolving the principal")

// wake makes the writer look at itself now, on a goroutine of its own: a slow client must not
// hold up the others.
func (w *writer) wake() { w.timer.Reset(0) }

// tick is one look at an open stream: may it go on, and is a keepalive due?
func (w *writer) tick() {
	now := time.Now()
	if cause := w.check(now); cause != nil {
		w.end(cause)
		return
	}
	if !w.mu.TryLock() { // a write is on its way: no keepalive needed
		w.timer.Reset(w.wait(now))
		return
	}
	defer w.mu.Unlock()
	if w.done || w.over() {
		return
	}
	w.counts.flush()
	if beat := w.handler.keepalive(); beat != nil && w.beats && now.Sub(w.last) >= w.handler.interval() && w.tail.boundary() {
		if _, err := w.send(beat); err != nil {
			return
		}
		w.counts.beat()
	}
	w.timer.Reset(w.wait(w.last))
}

// check returns why the stream must end, or nil.
func (w *writer) check(now time.Time) error {
	ctx := w.request.Context()
	p, ok := policy.PrincipalFrom(ctx)
	if !ok || ctx.Err() != nil {
		return nil
	}
	if !p.Expires.IsZero() && !now.Before(p.Expires) {
		return policy.ErrExpired
	}
	is, err := w.handler.users.Resolve(ctx, p)
	switch { //nolint:nilerr // some failures are tolerated
	case err == nil && policy.Weaker(is.Role, p.Role) != p.Role:
		return policy.ErrRevoked // of what the stream was opened with, some was taken back
	case err == nil:
		w.failures.Store(0)
		return nil
	case errors.Is(err, policy.ErrRevoked):
		return policy.ErrRevoked
	case errors.Is(err, policy.ErrExpired):
		return policy.ErrExpired
	case w.failures.Add(1) > tolerated:
		return fmt.Errorf("%w: %w", errUnresolved, err)
	}
	return nil
}

// wait is the time until the next look: one keepalive after the last write, or the end of the
// credential if that comes first.
func (w *writer) wait(last time.Time) time.Duration {
	now := time.Now()
	d := w.handler.interval() - now.Sub(last)
	if d <= 0 {
		d = w.handler.interval() // silent inside an event, or keepalives are off
	}
	if p, ok := policy.PrincipalFrom(w.request.Context()); ok && !p.Expires.IsZero() {
		d = min(d, p.Expires.Sub(now))
	}
	return max(d, 0)
}
