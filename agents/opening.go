package agents

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/scanner/redact"
)

// origin is what a run started from.
type origin struct {
	base  int             // messages of its thread before its input
	input []model.Message // that it added
}

// Opening are the messages that the run started from, redacted as its events are: those of its thread
// before it, and how many of them, the last ones, it was given as its input.
func (h Handle) Opening(ctx context.Context) (messages []model.Message, input int, err error) {
	o := h.origin
	if o == nil {
		r, err := h.host.store.Run(ctx, h.ID)
		if err != nil {
			return nil, 0, err
		}
		o = &origin{base: r.Base, input: r.Frames[0].Messages[:min(r.Input, len(r.Frames[0].Messages))]}
	}
	if o.base > 0 {
		if messages, err = h.host.store.Messages(ctx, h.Thread, o.base); err != nil {
			return nil, 0, err
		}
	}
	messages = slices.Concat(messages, o.input)
	for i, m := range messages {
		messages[i] = shownMessage(h.secrets, m)
	}
	return messages, len(o.input), nil
}

// First reports whether the run is the first one of its thread, as far as the handle of who started it tells.
func (h Handle) First() bool { return h.origin != nil && h.origin.base == 0 }

// shownMessage is a message as readers see it.
func shownMessage(secrets *redact.Secrets, m model.Message) model.Message {
	m.Content = secrets.Redact(m.Content)
	calls := m.ToolCalls
	m.ToolCalls = nil
	for _, c := range calls {
		c.Name = secrets.Redact(c.Name)
		if json.Valid([]byte(c.Arguments)) {
			c.Arguments = string(secrets.RedactJSON([]byte(c.Arguments)))
		} else {
			c.Arguments = secrets.Redact(c.Arguments)
		}
		m.ToolCalls = append(m.ToolCalls, c)
	}
	return m
}
