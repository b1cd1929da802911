package agents

import (
	"context"
	"encoding/json"
	"sync"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/sandbox"
	"github.com/svc-gateway/svc/audit"
)

// mcpEgress is what the record of a destination has as its action: it belongs to no call.
const mcpEgress = "mcp.egress"

// maxDestinations bounds how many destinations of one program are recorded.
const maxDestinations = 1000

// destinations puts on record where the program of an MCP server connects to, and what it was kept from. It
// runs as long as the service does, so each destination is recorded once.
type destinations struct {
	server string
	audit  *audit.Log
	log    *zap.Logger

	mu   sync.Mutex
	seen map[sandbox.Egress]bool
}

func (d *destinations) add(e sandbox.Egress) {
	d.mu.Lock()
	known := d.seen[e] || len(d.seen) > maxDestinations
	if !known {
		d.seen[e] = true
	}
	full := len(d.seen) == maxDestinations+1
	d.mu.Unlock()
	if known {
		return
	}
	ev := audit.Event{Type: audit.Admin, Action: mcpEgress, Status: "success"}
	switch {
	case full:
		ev.Status, ev.Error = "unknown", "further destinations are not listed"
	case e.Refused != "":
		ev.Status, ev.Error = "denied", e.Refused
	case e.Address == "":
		ev.Status, ev.Error = "error", "it could not be reached"
	}
	about := map[string]string{"server": d.server}
	if !full {
		about["method"], about["host"], about["address"] = e.Method, e.Host, e.Address
	}
	if input, err := json.Marshal(about); err == nil {
		ev.Input = string(input)
	}
	if err := d.audit.Queue(context.Background(), ev); err != nil {
		d.log.Error("recording a connection of an MCP server failed", zap.String("server", d.server), zap.Error(err))
	}
}
