package identity

import (
	"context"
	"sync"
)

// maxChecks is how many passwords are tried at a time. More wait, so that a flood of guesses
// does not run the directory down; each further one may also overdraw a budget by one.
const maxChecks = 32

// turns lets one attempt of a user at an address be made at a time, so that guesses sent side by
// side are counted one after the other, and few altogether. Its zero value is ready.
type turns struct {
	once  sync.Once
	slots chan struct{}

	mu   sync.Mutex
	busy map[attempt]*turn
}

// turn is held by who is in it.
type turn struct {
	held chan struct{} // capacity 1
	with int           // how many hold it or wait
}

// await waits for the turn of a and returns what ends it. It fails when ctx ends.
func (t *turns) await(ctx context.Context, a attempt) (release func(), err error) {
	t.once.Do(func() { t.slots, t.busy = make(chan struct{}, maxChecks), make(map[attempt]*turn) })
	mine := t.enter(a)
	select {
	case mine.held <- struct{}{}:
	case <-ctx.Done():
		t.leave(a, mine)
		return nil, ctx.Err()
	}
	select {
	case t.slots <- struct{}{}:
	case <-ctx.Done():
		<-mine.held
		t.leave(a, mine)
		return nil, ctx.Err()
	}
	return func() {
		<-t.slots
		<-mine.held
		t.leave(a, mine)
	}, nil
}

func (t *turns) enter(a attempt) *turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	mine := t.busy[a]
	if mine == nil {
		mine = &turn{held: make(chan struct{}, 1)}
		t.busy[a] = mine
	}
	mine.with++
	return mine
}

func (t *turns) leave(a attempt, mine *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if mine.with--; mine.with == 0 {
		delete(t.busy, a)
	}
}
