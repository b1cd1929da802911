package lease_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svc-gateway/svc/internal/bus"
	"github.com/svc-gateway/svc/internal/lease"
)

// cut is a bus that may be away.
type cut struct {
	bus.Bus
	away bool
}

func (c *cut) Lease(ctx context.Context, key, holder string, ttl time.Duration) (int64, error) {
	if c.away {
		return 0, bus.ErrUnavailable
	}
	return c.Bus.Lease(ctx, key, holder, ttl)
}

func TestLease(t *testing.T) {
	away := errors.New("away")
	for _, tt := range []struct {
		name string
		do   func(t *testing.T, b *cut, l *lease.Lease)
		lost bool
	}{
		{"held", func(*testing.T, *cut, *lease.Lease) {}, false},
		{"renewed in time", func(t *testing.T, _ *cut, l *lease.Lease) {
			time.Sleep(lease.Time / 2)
			if err := l.Renew(t.Context()); err != nil {
				t.Error(err)
			}
			time.Sleep(lease.Time * 3 / 4)
		}, false},
		{"lost to another", func(t *testing.T, b *cut, _ *lease.Lease) {
			time.Sleep(2 * lease.Time)
			if _, err := lease.Take(t.Context(), b, "run", "other"); err != nil {
				t.Error(err)
			}
		}, true},
		{"run out, and nobody can tell", func(*testing.T, *cut, *lease.Lease) { time.Sleep(2 * lease.Time) }, true},
		{"run out, and ours again", func(_ *testing.T, _ *cut, l *lease.Lease) {
			l.Untouched = func(context.Context) error { return nil }
			time.Sleep(2 * lease.Time)
		}, false},
		{"run out, and somebody was there", func(_ *testing.T, _ *cut, l *lease.Lease) {
			l.Untouched = func(context.Context) error { return away }
			time.Sleep(2 * lease.Time)
		}, true},
		{"the bus is away for a moment", func(t *testing.T, b *cut, l *lease.Lease) {
			time.Sleep(lease.Time / 2)
			b.away = true
			if err := l.Renew(t.Context()); !errors.Is(err, bus.ErrUnavailable) || errors.Is(err, lease.ErrLost) {
				t.Errorf("got %v", err)
			}
		}, false},
		{"the bus is away for too long", func(_ *testing.T, b *cut, _ *lease.Lease) {
			b.away = true
			time.Sleep(2 * lease.Time)
		}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := &cut{Bus: bus.NewMemory()}
				l, err := lease.Take(t.Context(), b, "run", "me")
				if err != nil {
					t.Fatal(err)
				}
				if _, err := lease.Take(t.Context(), b, "run", "other"); !errors.Is(err, lease.ErrTaken) {
					t.Errorf("another takes what is held: got %v", err)
				}
				tt.do(t, b, l)
				if err := l.Held(t.Context()); errors.Is(err, lease.ErrLost) != tt.lost || (err != nil) != tt.lost {
					t.Errorf("got %v, want lost: %v", err, tt.lost)
				}
			})
		})
	}
}
