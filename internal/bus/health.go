package bus

import "time"

// Health is how a bus stands to the processes that it shares state with.
type Health struct {
	Kind      string    // of the implementation: memory, redis
	Connected bool      // it hears the other processes and shares state with them
	Since     time.Time // when that became so
	Reason    string    // while it is cut off: why, a stable word
	Err       error     // while it is cut off: why, for logs; matches [ErrUnavailable]
}
