package redis

import (
	"context"
	"errors"
	"fmt"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/svc-gateway/svc/internal/bus"
)

func (b *Bus) counterKey(key string) string { return b.prefix + "count:" + key }

func (b *Bus) bucketKey(key string) string { return b.prefix + "bucket:" + key }

// Count implements bus.Bus. While the server is away this process counts for itself.
func (b *Bus) Count(ctx context.Context, key string, n int64, window time.Duration) (int64, time.Time, error) {
	if err := bus.CheckCount(key, n, window); err != nil {
		return 0, time.Time{}, err
	}
	cmd, err := b.eval(ctx, countScript, true, []string{b.counterKey(key)}, n, milliseconds(window))
	if errors.Is(err, bus.ErrUnavailable) {
		return b.local.Count(ctx, key, n, window)
	}
	if err != nil {
		return 0, time.Time{}, fmt.Errorf("counting: %w", err)
	}
	total, left, err := pair(cmd)
	if err != nil || total == 0 {
		return 0, time.Time{}, err
	}
	return total, time.Now().Add(time.Duration(left) * time.Millisecond), nil
}

// Clear implements bus.Bus. While the server is away it is remembered.
func (b *Bus) Clear(ctx context.Context, key string) error {
	if err := b.local.Clear(ctx, key); err != nil {
		return err
	}
	err := b.do(ctx, true, func(ctx context.Context) error { return b.client.Del(ctx, b.counterKey(key)).Err() })
	if errors.Is(err, bus.ErrUnavailable) {
		b.cleared.add(b.counterKey(key))
		return nil
	}
	return err
}

// Take implements bus.Bus. While the server is away this process has buckets of its own.
func (b *Bus) Take(ctx context.Context, key string, burst int64, every time.Duration) (bus.Grant, error) {
	if err := bus.CheckBucket(key, burst, every); err != nil {
		return bus.Grant{}, err
	}
	step := (every + time.Microsecond - 1) / time.Microsecond // rounded up: the limit is one at the most
	cmd, err := b.eval(ctx, takeScript, true, []string{b.bucketKey(key)}, burst, int64(step))
	if errors.Is(err, bus.ErrUnavailable) {
		return b.local.Take(ctx, key, burst, every)
	}
	if err != nil {
		return bus.Grant{}, fmt.Errorf("taking a token: %w", err)
	}
	ok, full, err := pair(cmd)
	if err != nil {
		return bus.Grant{}, err
	}
	return bus.GrantOf(ok == 1, time.Duration(full)*time.Microsecond, burst, step*time.Microsecond), nil
}

// pair is the answer of a script that returns two numbers.
func pair(cmd *goredis.Cmd) (first, second int64, err error) {
	list, err := cmd.Int64Slice()
	if err != nil {
		return 0, 0, err
	}
	if len(list) != 2 {
		return 0, 0, fmt.Errorf("the live bus answered with %d numbers, want 2", len(list))
	}
	return list[0], list[1], nil
}
