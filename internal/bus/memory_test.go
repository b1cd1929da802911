package bus_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svc-gateway/svc/internal/bus"
	"github.com/svc-gateway/svc/internal/bus/bustest"
)

func TestConformance(t *testing.T) {
	bustest.Conformance(t, func(*testing.T) bus.Bus { return bus.NewMemory() })
}

// Fake time shows the exact moment at which things end.
func TestMemoryTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := bus.NewMemory()
		if token, err := b.Lease(t.Context(), "k", "a", time.Second); token == 0 || err != nil {
			t.Fatal(token, err)
		}
		for i := range 3 {
			g, err := b.Take(t.Context(), "k", 2, time.Second)
			if want := (bus.Grant{OK: i < 2, Left: max(0, 1-int64(i)), Wait: time.Duration(min(i, 1)) * time.Second, Full: time.Duration(min(i+1, 2)) * time.Second}); err != nil || g != want {
				t.Errorf("take %d: got %+v, %v; want %+v", i, g, err, want)
			}
		}
		_, reset, err := b.Count(t.Context(), "k", 5, time.Second)
		if err != nil || !reset.Equal(time.Now().Add(time.Second)) {
			t.Fatalf("got %v, %v; want in one second", reset, err)
		}
		time.Sleep(time.Second - 1) // fake
		if h, _ := b.Holder(t.Context(), "k"); h != "a" {
			t.Errorf("got %q just before the end, want a", h)
		}
		if n, _, _ := b.Count(t.Context(), "k", 0, time.Second); n != 5 {
			t.Errorf("got %d just before the end, want 5", n)
		}
		if g, _ := b.Take(t.Context(), "k", 2, time.Second); g.OK || g.Wait != 1 || g.Full != time.Second+1 {
			t.Errorf("got %+v just before the end, want a nanosecond to wait", g)
		}
		time.Sleep(time.Nanosecond) // fake
		if g, _ := b.Take(t.Context(), "k", 2, time.Second); !g.OK || g.Left != 0 || g.Wait != time.Second {
			t.Errorf("got %+v at the end, want a token", g)
		}
		if h, _ := b.Holder(t.Context(), "k"); h != "" {
			t.Errorf("got %q at the end, want nobody", h)
		}
		if n, _, _ := b.Count(t.Context(), "k", 0, time.Second); n != 0 {
			t.Errorf("got %d at the end, want 0", n)
		}
	})
}

func BenchmarkPublish(b *testing.B) {
	for _, n := range []int{1, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m := bus.NewMemory()
			for range n {
				s := m.Subscribe("t")
				defer s.Close()
			}
			msg := []byte("x")
			b.ReportAllocs()
			for b.Loop() {
				if err := m.Publish(b.Context(), "t", msg); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCount(b *testing.B) {
	m := bus.NewMemory()
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := m.Count(b.Context(), "user", 1, time.Minute); err != nil {
			b.Fatal(err)
		}
	}
}
