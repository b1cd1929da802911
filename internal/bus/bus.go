// Package bus is the live side of shared state: what several parts of the service, or later several
// nodes, must know at once and may forget at a restart. It fans messages out to subscribers, lends
// leases that expire, counts per window of time for lockouts, and keeps token buckets for rate limits.
//
// [NewMemory] is the implementation for one process. Another one (Redis, for a fleet) passes the same
// conformance suite, package bustest:
//
//	sub := b.Subscribe("identity")
//	defer sub.Close()
//	for message := range sub.C() {
//		if sub.Lost() {
//			// reload everything: some messages are missing
//		}
//	}
//
// Guarantees: a publisher never waits for a subscriber; a subscriber that falls behind loses the
// oldest messages and is told so; messages of one publisher on one topic keep their order; a lease
// has at most one holder at a time, as far as the clocks of the nodes agree. Nothing is durable.
//
// All methods are safe for concurrent use.
package bus

import (
	"context"
	"time"
)

// Bus is what the rest of the service uses. Its errors are those of the transport and of ended
// contexts; a caller that must not fail open treats them as "no".
type Bus interface {
	// Publish sends message to the current subscribers of topic. The message must not be changed
	// afterwards, by anyone.
	Publish(ctx context.Context, topic string, message []byte) error

	// Subscribe receives what is published on topic from now on, until the Subscription is closed.
	Subscribe(topic string) *Subscription

	// Lease takes the lease on key for holder, or renews it, so that it ends ttl from now. It
	// returns false while another holder has it.
	Lease(ctx context.Context, key, holder string, ttl time.Duration) (bool, error)

	// Release ends holder's lease on key. It does nothing when another holder, or nobody, has it.
	Release(ctx context.Context, key, holder string) error

	// Holder returns who has the lease on key, "" when it is free or expired.
	Holder(ctx context.Context, key string) (string, error)

	// Count adds n to the counter of key and returns its total. The first n > 0 opens a window of
	// the given length; at reset the counter is gone. With n = 0 it only looks; reset is then the
	// zero Time when there is no window.
	Count(ctx context.Context, key string, n int64, window time.Duration) (total int64, reset time.Time, err error)

	// Clear ends the window of key: its counter is gone.
	Clear(ctx context.Context, key string) error

	// Take takes one token from the bucket of key, which holds burst tokens when nobody has taken
	// any and gets one back each time that every has passed. Callers of one key pass the same
	// bucket. The key is apart from those of Count.
	Take(ctx context.Context, key string, burst int64, every time.Duration) (Grant, error)
}

// MaxRefill is the longest time that a bucket may take from empty to full.
const MaxRefill = 365 * 24 * time.Hour

// Grant is the answer of a bucket.
type Grant struct {
	OK   bool          // there was a token
	Left int64         // tokens that are left
	Wait time.Duration // until there is a token again; 0 while some are left
	Full time.Duration // until all tokens are back
}
