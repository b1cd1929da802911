// Package bus is the live side of shared state: what several parts of the service, or several
// nodes, must know at once and may forget at a restart. It fans messages out to subscribers, lends
// leases that expire, keeps rooms that take a limited number of members, counts per window of time
// for lockouts, and keeps token buckets for rate limits.
//
// [NewMemory] is the implementation for one process, package redis the one for a fleet. Both pass
// the same conformance suite, package bustest:
//
//	sub := b.Subscribe("identity")
//	defer sub.Close()
//	for message := range sub.C() {
//		if sub.Lost() {
//			// reload everything: some messages are missing
//		}
//	}
//
// Guarantees: a publisher never waits for a subscriber; a subscriber that falls behind, or whose
// bus was cut off, is told that messages are missing; messages of one publisher on one topic keep
// their order; a lease has at most one holder at a time, and a member's place is one member's.
// Nothing is durable.
//
// # While the bus is cut off
//
// An implementation over a network can lose its server. [Bus.Health] says so. Then
//
//   - subscribers go on to receive what their own process publishes, and are told by
//     [Subscription.Lost] that the rest is missing, both when that begins and when it is over;
//   - leases and rooms fail with [ErrUnavailable]: nobody can promise what they promise;
//   - counters and buckets go on within the process. A limit is then one of each process, never none.
//
// All methods are safe for concurrent use.
package bus

import (
	"context"
	"errors"
	"time"
)

// ErrUnavailable is what errors of the transport match: the server of the bus cannot be reached,
// does not answer in time, or refuses. Their text holds no secret, but is for logs, not for clients.
var ErrUnavailable = errors.New("the live bus is unavailable")

// Bus is what the rest of the service uses. Its errors are those of bad arguments, of ended
// contexts and [ErrUnavailable]; a caller that must not fail open treats them as "no".
type Bus interface {
	// Publish sends message to the current subscribers of topic, without waiting for them or for
	// a server. Those of other processes that it does not reach are told by [Subscription.Lost].
	// The message must not be changed afterwards, by anyone.
	Publish(ctx context.Context, topic string, message []byte) error

	// Subscribe receives what is published on topic from now on, until the Subscription is closed.
	Subscribe(topic string) *Subscription

	// Lease takes the lease on key for holder, or renews it, so that it ends ttl from now. The
	// token is 0 while another holder has it. Else it is a fencing token above zero: it stays while
	// the lease is renewed, and is greater than all before on this key each time that the lease is
	// taken anew, by whomever, also after a restart. Whoever keeps what is done under the lease can
	// so refuse a former holder that does not know yet that it is one.
	Lease(ctx context.Context, key, holder string, ttl time.Duration) (token int64, err error)

	// Release ends holder's lease on key. It does nothing when another holder, or nobody, has it.
	Release(ctx context.Context, key, holder string) error

	// Holder returns who has the lease on key, "" when it is free or expired.
	Holder(ctx context.Context, key string) (string, error)

	// Enter lets member into the room of key for ttl, unless most others are in it. Who is in
	// already stays, and its ttl begins anew, whatever most is.
	Enter(ctx context.Context, key, member string, most int64, ttl time.Duration) (ok bool, err error)

	// Leave takes member out of the room of key. It does nothing when it is not in.
	Leave(ctx context.Context, key, member string) error

	// Count adds n to the counter of key and returns its total. The first n > 0 opens a window of
	// the given length; at reset the counter is gone. With n < 0 it gives back what was counted in the
	// open window, which ends at zero; where there is none it does nothing. With n = 0 it only looks.
	// reset is the zero Time when there is no window.
	Count(ctx context.Context, key string, n int64, window time.Duration) (total int64, reset time.Time, err error)

	// Clear ends the window of key: its counter is gone.
	Clear(ctx context.Context, key string) error

	// Take takes one token from the bucket of key, which holds burst tokens when nobody has taken
	// any and gets one back each time that every has passed. Callers of one key pass the same
	// bucket. The key is apart from those of Count.
	Take(ctx context.Context, key string, burst int64, every time.Duration) (Grant, error)

	// Health says whether the bus works now. It does not ask anybody and may be called often.
	Health() Health
}
