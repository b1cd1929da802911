package identity

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// throttle bounds how many logins are worked on at a time. People come in crowds, and each login
// wakes up a dozen times: without a bound a crowd has all processors to itself, and a request that
// needs one for a moment waits behind it each time. One for two processors leaves room.
type throttle chan struct{}

// patience is how long a place is kept. Who takes longer is waiting for the directory or the disk,
// and keeps nobody from a processor.
const patience = 5 * time.Millisecond

func newThrottle() throttle { return make(throttle, max(1, runtime.GOMAXPROCS(0)/2)) }

// enter waits for a place and returns what gives it back. It fails when ctx ends.
func (t throttle) enter(ctx context.Context) (leave func(), err error) {
	select {
	case t <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	once := sync.OnceFunc(func() { <-t })
	late := time.AfterFunc(patience, once)
	return func() {
		late.Stop()
		once()
	}, nil
}
