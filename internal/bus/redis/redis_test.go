package redis_test

import (
	"testing"

	"github.com/svc-gateway/svc/internal/bus"
	"github.com/svc-gateway/svc/internal/bus/bustest"
	"github.com/svc-gateway/svc/internal/bus/redis"
	"github.com/svc-gateway/svc/internal/bus/redistest"
	"github.com/svc-gateway/svc/internal/settings"
)

// open opens a bus until the test ends. Trouble that it reports comes through the channel.
func open(t testing.TB, s settings.Bus) (*redis.Bus, <-chan error) {
	t.Helper()
	reports := make(chan error, 100)
	b, err := redis.Open(t.Context(), s, redis.Options{Env: environment, Trouble: func(err error) { reports <- err }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b, reports
}

// environment has the passwords of the tests.
func environment(name string) (string, bool) {
	v, ok := map[string]string{"RIGHT": "open-sesame", "WRONG": "hunter2"}[name]
	return v, ok
}

func TestConformance(t *testing.T) {
	conformance(t, redistest.New(t).Bus())
}

func TestConformanceCluster(t *testing.T) {
	conformance(t, redistest.NewCluster(t).Bus())
}

func TestConformanceTLS(t *testing.T) {
	conformance(t, redistest.NewWith(t, redistest.Config{TLS: true}).Bus())
}

// conformance gives each test of the suite an empty bus, in the place of a prefix.
func conformance(t *testing.T, s settings.Bus) {
	bustest.Conformance(t, func(t *testing.T) bus.Bus {
		s := s
		s.Prefix += t.Name() + ":"
		b, _ := open(t, s)
		return b
	})
}
