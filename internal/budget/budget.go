// Package budget bounds what all requests together may hold in memory for a purpose.
//
//	b := budget.New(256 << 20)
//	hold := b.Hold(user)
//	defer hold.Release()
//	if err := hold.Take(ctx, 4*size); err != nil {
//		// 503: errors.Is(err, budget.ErrFull)
//	}
//
// Nobody holds more than a quarter of the whole, so that one caller's requests cannot keep out
// everybody else's. Who finds no room waits a moment for others to release theirs. All methods of a
// Budget are safe for concurrent use; a Hold belongs to one goroutine at a time.
package budget

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrFull is returned when there was no room in time.
var ErrFull = errors.New("too much memory is held by requests at present")

// patience is how long a caller waits for room.
const patience = time.Second

// Budget is a number of bytes that is shared out. Make it with New.
type Budget struct {
	total int64

	mu    sync.Mutex
	used  int64
	by    map[string]int64
	freed chan struct{} // closed when something is released; nil while nobody waits
}

// New returns a budget of so many bytes.
func New(bytes int64) *Budget { return &Budget{total: bytes, by: map[string]int64{}} }

// Share is how many bytes one holder may have at most.
func (b *Budget) Share() int64 { return b.total / 4 }

// Hold is what one request of a holder has taken.
type Hold struct {
	b      *Budget
	holder string
	taken  int64
}

// Hold begins a request of a holder, such as a user. It has taken nothing yet.
func (b *Budget) Hold(holder string) *Hold { return &Hold{b: b, holder: holder} }

// Take takes so many bytes more, and waits a moment when there is no room. The error is ErrFull, or
// the context's cause.
func (h *Hold) Take(ctx context.Context, bytes int64) error {
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		freed := h.b.take(h, bytes)
		if freed == nil {
			return nil
		}
		select {
		case <-freed:
		case <-late.C:
			return ErrFull
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// take takes bytes if there is room; otherwise it returns what tells that there may be.
func (b *Budget) take(h *Hold, bytes int64) (freed <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.used+bytes <= b.total && b.by[h.holder]+bytes <= b.Share() {
		b.used += bytes
		b.by[h.holder] += bytes
		h.taken += bytes
		return nil
	}
	if b.freed == nil {
		b.freed = make(chan struct{})
	}
	return b.freed
}

// Release gives back all that was taken. A second Release does nothing.
func (h *Hold) Release() {
	b := h.b
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= h.taken
	if b.by[h.holder] -= h.taken; b.by[h.holder] == 0 {
		delete(b.by, h.holder)
	}
	h.taken = 0
	if b.freed != nil {
		close(b.freed)
		b.freed = nil
	}
}
