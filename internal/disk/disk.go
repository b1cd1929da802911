// Package disk watches the space that is left on a file system.
//
//	w := disk.NewWatch(folder, limit)
//	state := w.Look() // cheap: one call of the system
//
// A [Watch] says that space is low below its limit, and that it is not again a tenth above it, so that
// it does not change its mind with every file. Where the system does not tell, nothing is low. A Watch
// is safe for concurrent use.
package disk

import (
	"sync"
	"time"
)

// The limit of a [Watch] that is given none: Least, or a twentieth of a smaller file system.
const (
	Least    = 1 << 30
	fraction = 20
)

// Space is the size of a file system and what an ordinary user may still write to it, in bytes.
type Space struct {
	Free, Size uint64
}

// State is what a [Watch] last saw.
type State struct {
	Space
	Limit uint64    // below which space is low, in bytes
	Low   bool      // space is low
	Since time.Time // when that became so
	Err   error     // the system does not tell
}

// Watch watches one file system. [NewWatch] makes one.
type Watch struct {
	limit uint64
	ask   func() (Space, error)

	mu    sync.Mutex
	state State
}

// NewWatch watches the file system that a file or folder is on. A limit of 0 is the default.
func NewWatch(path string, limit int64) *Watch {
	return newWatch(limit, func() (Space, error) { return of(path) })
}

func newWatch(limit int64, ask func() (Space, error)) *Watch {
	return &Watch{limit: uint64(max(limit, 0)), ask: ask, state: State{Since: time.Now()}}
}

// Look asks the system and returns how things stand.
func (w *Watch) Look() State {
	space, err := w.ask()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.state.Err = err; err != nil {
		return w.state
	}
	limit := w.limit
	if limit == 0 {
		limit = min(Least, space.Size/fraction)
	}
	enough := limit
	if w.state.Low {
		enough += limit / 10
	}
	if low := space.Free < enough; low != w.state.Low {
		w.state.Low, w.state.Since = low, time.Now()
	}
	w.state.Space, w.state.Limit = space, limit
	return w.state
}
