package redis

import (
	"context"
	"fmt"
	"time"

	"github.com/svc-gateway/svc/internal/bus"
)

func (b *Bus) roomKey(key string) string { return b.prefix + "room:" + key }

// Enter implements bus.Bus.
func (b *Bus) Enter(ctx context.Context, key, member string, most int64, ttl time.Duration) (bool, error) {
	if err := bus.CheckEnter(key, member, most, ttl); err != nil {
		return false, err
	}
	cmd, err := b.eval(ctx, enterScript, false, []string{b.roomKey(key)}, member, most, milliseconds(ttl))
	if err != nil {
		return false, fmt.Errorf("entering a room: %w", err)
	}
	in, err := cmd.Int64()
	return in == 1, err
}

// Leave implements bus.Bus.
func (b *Bus) Leave(ctx context.Context, key, member string) error {
	err := b.do(ctx, false, func(ctx context.Context) error { return b.client.ZRem(ctx, b.roomKey(key), member).Err() })
	if err != nil {
		return fmt.Errorf("leaving a room: %w", err)
	}
	return nil
}
