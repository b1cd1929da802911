package syslog

import (
	"sync"
	"time"

	"github.com/svc-gateway/svc/internal/duckwire"
)

// The bounds of what waits to be stored.
const (
	maxWaiting      = 200_000
	maxWaitingBytes = 128 << 20
	overhead        = 400 // bytes of a message besides its texts, about
)

// queue is what waits to be stored. Who puts something into it never waits.
type queue struct {
	room int // for messages

	mu     sync.Mutex
	list   []duckwire.Message
	size   int
	closed bool
	some   chan struct{} // has one when the queue is not empty
	end    chan struct{} // closed with the queue
}

func newQueue(room int) *queue {
	return &queue{room: room, some: make(chan struct{}, 1), end: make(chan struct{})}
}

// put reports false when there is no room.
func (q *queue) put(m duckwire.Message) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	size := sizeOf(&m)
	if q.closed || len(q.list) >= q.room || q.size+size > maxWaitingBytes {
		return false
	}
	q.list, q.size = append(q.list, m), q.size+size
	select {
	case q.some <- struct{}{}:
	default:
	}
	return true
}

// sizeOf is about how much memory a message takes. A sender may put most of it into any of the texts.
func sizeOf(m *duckwire.Message) int {
	return len(m.Host) + len(m.App) + len(m.Process) + len(m.ID) + len(m.Data) + len(m.Text) + overhead
}

// takeAll empties the queue. more is false when nothing will come any more.
func (q *queue) takeAll() (list []duckwire.Message, more bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	list, q.list, q.size = q.list, nil, 0
	return list, !q.closed
}

// close says that nothing will come any more. It is called once.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	close(q.end)
}

// wait waits until there is something, and then for a while for more, unless the queue is closed.
func (q *queue) wait(more time.Duration) {
	select {
	case <-q.some:
	case <-q.end:
		return
	}
	select {
	case <-time.After(more):
	case <-q.end:
	}
}

// pause waits. It reports false, at once, when the queue is closed.
func (q *queue) pause(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-q.end:
		return false
	}
}
