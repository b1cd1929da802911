package policy

import (
	"slices"
	"sync"
)

// kept is how many policies that were replaced a Live remembers, for runs that waited meanwhile.
const kept = 16

// Live is the policy of a service that goes on while the policy changes. What starts asks it with
// [Live.Hold] and keeps what it got, unless an admin replaced that at once. Its zero value has no
// policy, which denies everything. It is safe for concurrent use.
type Live struct {
	mu      sync.RWMutex
	current *Engine
	forced  *Engine // the last one that was applied to everything
	epoch   int     // how many times that was
	former  []*Engine
}

// NewLive returns a Live whose policy is e.
func NewLive(e *Engine) *Live { return &Live{current: e} }

// Engine returns the policy that counts for what starts now.
func (l *Live) Engine() *Engine {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.current
}

// Apply makes e the policy of what starts from now on and, with now, of what is under way as well.
func (l *Live) Apply(e *Engine, now bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.current != nil {
		l.former = append(l.former, l.current)
		l.former = l.former[max(0, len(l.former)-kept):]
	}
	l.current = e
	if now {
		l.forced, l.former = e, nil
		l.epoch++
	}
}

// Hold returns the policy that counts now, for something that goes on for a while. With the hash of
// the policy that it held before, as something that waited has, it is that one again, if it is known
// and was not replaced at once.
func (l *Live) Hold(hash string) *Held {
	l.mu.RLock()
	defer l.mu.RUnlock()
	h := &Held{l, l.current, l.epoch}
	if i := slices.IndexFunc(l.former, func(e *Engine) bool { return e.Hash() == hash }); i >= 0 && l.current.Hash() != hash {
		h.engine = l.former[i]
	}
	return h
}

// Held is a policy that something under way keeps. It is safe for concurrent use.
type Held struct {
	live   *Live
	engine *Engine
	epoch  int
}

// Engine returns the policy that was held or, when an admin has replaced it at once, the one that
// took its place.
func (h *Held) Engine() *Engine {
	h.live.mu.RLock()
	defer h.live.mu.RUnlock()
	if h.epoch != h.live.epoch {
		return h.live.forced
	}
	return h.engine
}
