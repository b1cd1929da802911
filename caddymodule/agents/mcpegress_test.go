package agents

import (
	"fmt"
	"path/filepath"
	"testing"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/sandbox"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/audit/audittest"
)

// Each destination is on record once, those that were refused too, and a flood of them has an end.
func TestDestinations(t *testing.T) {
	log := audittest.Open(t, filepath.Join(t.TempDir(), "audit.db"))
	d := destinations{server: "tick", audit: log, log: zap.NewNop(), seen: map[sandbox.Egress]bool{}}
	for range 3 {
		d.add(sandbox.Egress{Method: "CONNECT", Host: "169.254.169.254:80", Refused: "metadata"})
	}
	for i := range 2 * maxDestinations {
		d.add(sandbox.Egress{Method: "GET", Host: fmt.Sprintf("h%d:80", i), Address: "192.0.2.1:80"})
	}
	if err := log.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	all, err := log.Events(t.Context(), audit.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != maxDestinations+1 {
		t.Fatalf("got %d records, want %d", len(all), maxDestinations+1)
	}
	if e := all[0]; e.Action != mcpEgress || e.Status != "denied" {
		t.Errorf("got %+v, want what was refused", e)
	}
	if e := all[len(all)-1]; e.Status != "unknown" {
		t.Errorf("got %+v, want that more is not listed", e)
	}
}
