package api_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/svc-gateway/svc/internal/bus"
)

// leaseless is a bus whose server is away.
type leaseless struct{ *bus.Memory }

func (leaseless) Lease(context.Context, string, string, time.Duration) (int64, error) {
	return 0, fmt.Errorf("taking a lease: %w: %w", bus.ErrUnavailable, errors.New("dial tcp 192.0.2.1:6379"))
}

// No run starts that another process could take for abandoned.
func TestNoRunWithoutTheBus(t *testing.T) {
	s := newServerOn(t, parrot{}, leaseless{bus.NewMemory()})
	status, header, body := s.do("ada", "POST", "/runs/stream", ask("hello"))
	if status != 503 || header.Get("Retry-After") != "5" || !strings.Contains(body, `"bus_unavailable"`) || strings.Contains(body, "192.0.2.1") {
		t.Errorf("got %d, Retry-After %q: %s", status, header.Get("Retry-After"), body)
	}
	if status, _, body := s.do("ada", "POST", "/threads", "{}"); status != 200 {
		t.Errorf("what needs no lease: got %d: %s", status, body)
	}
}
