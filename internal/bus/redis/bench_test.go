package redis_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/svc-gateway/svc/internal/bus/redistest"
)

// Each is one round trip to a server on this machine, but for Publish, which waits for nobody.
func Benchmark(b *testing.B) {
	live, _ := open(b, redistest.New(b).Bus())
	ops := []struct {
		name string
		op   func(i int) error
	}{
		{"Lease/renew", func(int) error { _, err := live.Lease(b.Context(), "k", "a", time.Minute); return err }},
		{"Lease/take", func(i int) error {
			_, err := live.Lease(b.Context(), strconv.Itoa(i), "a", time.Second)
			return err
		}},
		{"Enter", func(int) error { _, err := live.Enter(b.Context(), "k", "a", 100, time.Minute); return err }},
		{"Count", func(int) error { _, _, err := live.Count(b.Context(), "k", 1, time.Minute); return err }},
		{"Take", func(int) error { _, err := live.Take(b.Context(), "k", 1e6, time.Millisecond); return err }},
		{"Publish", func(int) error { return live.Publish(b.Context(), "topic", nil) }},
	}
	for _, o := range ops {
		b.Run(o.name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if err := o.op(i); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("Take/parallel", func(b *testing.B) {
		b.SetParallelism(8)
		b.RunParallel(func(p *testing.PB) {
			for p.Next() {
				if _, err := live.Take(b.Context(), "k", 1e6, time.Millisecond); err != nil {
					b.Error(err)
				}
			}
		})
	})
}
