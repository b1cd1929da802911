package device

import (
	"context"
	"errors"
	"testing"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/inventory"
)

type moving struct{ list inventory.List }

func (m *moving) Load(context.Context) (inventory.List, error) { return m.list, nil }

// What was approved for one device is not done on the one that has its name by then.
func TestMoved(t *testing.T) {
	at := func(address string) inventory.List {
		return inventory.List{{Name: "edge1", Address: address, Port: 22, Platform: inventory.IOS}, {Name: "edge2", Address: "10.0.0.9", Port: 22, Platform: inventory.IOS}}
	}
	from, f := &moving{at("10.0.0.1")}, New(Config{})
	one := map[string]any{"command": "clear counters", "devices": []any{"edge1"}}
	two := map[string]any{"command": "clear counters", "devices": []any{"edge1", "edge2"}}
	lines := map[string]any{"device": "edge1", "lines": "ntp server 10.0.0.5", "diff": "+ ntp server 10.0.0.5"}
	for name, tt := range map[string]struct {
		classify func(map[string]any) agents.Classification
		run      func(context.Context, agents.ToolContext, map[string]any) (agents.Result, error)
		args     map[string]any
	}{
		"command":         {commander{f, from}.classify, commander{f, from}.run, one},
		"command on many": {commander{f, from}.classify, commander{f, from}.run, two},
		"config":          {configurer{f, from}.classify, configurer{f, from}.run, lines},
	} {
		from.list = at("10.0.0.1")
		class := tt.classify(tt.args)
		from.list = at("10.0.0.2")
		if _, err := tt.run(t.Context(), agents.ToolContext{Approved: true, Where: class.Where}, tt.args); class.Refused != "" || !errors.Is(err, errMoved) {
			t.Errorf("%s: got %q %v, want %v", name, class.Refused, err, errMoved)
		}
	}
	var many inventory.List
	for range 2 * maxNames {
		many = append(many, inventory.Device{Name: "d", Address: "10.0.0.1", Port: 22})
	}
	before := where(many)
	if many[maxNames+3].Address = "10.0.0.2"; where(many) == before {
		t.Error("a device that is not shown moves, and the place stays")
	}
}
