package redis

import (
	"context"
	"fmt"
	"hash/fnv"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/svc-gateway/svc/internal/bus"
)

// fences is how many keys remember the last fencing token. Each is in the slot of its leases, so
// that a cluster spreads them, and a lease that is over leaves nothing behind.
const fences = 64

// leaseKeys are the key of a lease and that of its last token.
func (b *Bus) leaseKeys(key string) []string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(key))
	tag := fmt.Sprintf("{%d}", h.Sum32()%fences)
	return []string{b.prefix + "lease:" + tag + ":" + key, b.prefix + "fence:" + tag}
}

// Lease implements bus.Bus.
func (b *Bus) Lease(ctx context.Context, key, holder string, ttl time.Duration) (int64, error) {
	if err := bus.CheckLease(key, holder, ttl); err != nil {
		return 0, err
	}
	cmd, err := b.eval(ctx, leaseScript, false, b.leaseKeys(key), holder, milliseconds(ttl))
	if err != nil {
		return 0, fmt.Errorf("taking a lease: %w", err)
	}
	return cmd.Int64()
}

// Release implements bus.Bus.
func (b *Bus) Release(ctx context.Context, key, holder string) error {
	if _, err := b.eval(ctx, releaseScript, false, b.leaseKeys(key)[:1], holder); err != nil {
		return fmt.Errorf("giving a lease back: %w", err)
	}
	return nil
}

// Holder implements bus.Bus.
func (b *Bus) Holder(ctx context.Context, key string) (string, error) {
	var cmd *goredis.StringCmd
	err := b.do(ctx, false, func(ctx context.Context) error {
		cmd = b.client.HGet(ctx, b.leaseKeys(key)[0], "holder")
		return cmd.Err()
	})
	if err != nil {
		return "", fmt.Errorf("looking at a lease: %w", err)
	}
	return cmd.Val(), nil
}
