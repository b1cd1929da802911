package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/sandbox"
	"github.com/svc-gateway/svc/audit"
)

// maxDestinations is how many destinations of one program are recorded one by one.
const maxDestinations = 100

// egress records where a call of a tool connected to: each destination once, however often it was
// asked for.
type egress struct {
	log  *audit.Log
	call agents.ToolContext
	tool string

	mu   sync.Mutex
	seen map[sandbox.Egress]int
	all  []sandbox.Egress // in their order
	more int              // connections to others
}

// add takes a connection.
func (e *egress) add(c sandbox.Egress) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.seen[c] > 0:
	case len(e.all) == maxDestinations:
		e.more++
		return
	default:
		e.all = append(e.all, c)
	}
	if e.seen == nil {
		e.seen = map[sandbox.Egress]int{}
	}
	e.seen[c]++
}

// destination is a destination on record.
type destination struct {
	Method  string `json:"method"`
	Host    string `json:"host"`
	Address string `json:"address,omitempty"` // that it was connected to
	Times   int    `json:"times"`
}

// end records what there was.
func (e *egress) end(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range e.all {
		input, err := json.Marshal(destination{c.Method, c.Host, c.Address, e.seen[c]})
		if err != nil {
			return fmt.Errorf("describing a connection: %w", err)
		}
		ev := e.event("success")
		ev.Input = string(input)
		switch {
		case c.Refused != "":
			ev.Status, ev.Error = "denied", c.Refused
		case c.Address == "":
			ev.Status, ev.Error = "error", "it could not be reached"
		}
		if err := e.log.Queue(context.WithoutCancel(ctx), ev); err != nil {
			return fmt.Errorf("recording a connection: %w", err)
		}
	}
	if e.more == 0 {
		return nil
	}
	ev := e.event("unknown")
	ev.Error = fmt.Sprintf("%d connections to further destinations are not listed", e.more)
	if err := e.log.Queue(context.WithoutCancel(ctx), ev); err != nil {
		return fmt.Errorf("recording connections: %w", err)
	}
	return nil
}

func (e *egress) event(status string) audit.Event {
	p := e.call.Principal
	return audit.Event{
		Type: audit.ToolEgress, Run: e.call.Run, Thread: e.call.Thread, Agent: e.call.Agent, Call: e.call.Call, Tool: e.tool,
		User: p.User, Role: string(p.Role), OnBehalfOf: p.OnBehalfOf, Address: p.Address, TokenID: p.TokenID, RequestID: p.RequestID, Status: status,
	}
}
