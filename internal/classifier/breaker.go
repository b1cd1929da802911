package classifier

import (
	"sync"
	"time"
)

// maxPause bounds how long a server may ask to be left alone.
const maxPause = 5 * time.Minute

// breaker leaves a server alone that has failed again and again. After the pause one call tries it, and what
// becomes of that decides.
type breaker struct {
	after int           // failures in a row
	pause time.Duration // that follows them

	mu       sync.Mutex
	failures int
	until    time.Time // the server is left alone; zero: it is not
	trying   bool      // one call is on its way
}

// enter reports whether the server may be asked now, and whether that is to try it. Where it may, done has to
// follow.
func (b *breaker) enter(now time.Time) (trial, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.until.IsZero() {
		return false, true
	}
	if now.Before(b.until) || b.trying {
		return false, false
	}
	b.trying = true
	return true, true
}

// What became of a call, to the breaker.
type fate uint8

const (
	worked fate = iota
	failed
	untold // the caller went away, or there was no place: it says nothing about the server
)

// done takes what became of a call. wait is how long the server has asked to be left alone, if it has. It
// returns how many calls have failed in a row before this one, and whether the server is left alone from now
// on, or not any more.
func (b *breaker) done(now time.Time, trial bool, f fate, wait time.Duration) (before int, changed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	open := !b.until.IsZero()
	if trial {
		b.trying = false
	}
	before = b.failures
	switch {
	case f == worked:
		b.failures, b.until = 0, time.Time{}
		return before, open
	case f == untold, open && !trial: // that one began before the server was left alone
		return before, false
	}
	b.failures++
	if wait <= 0 && b.failures < b.after && !trial {
		return before, false
	}
	b.until = now.Add(max(b.pause, min(wait, maxPause)))
	return before, !open
}

// open reports whether the server is left alone.
func (b *breaker) open() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.until.IsZero()
}
