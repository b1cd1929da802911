package agents

import (
	"context"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/model"
	"github.com/svc-gateway/svc/agents/shown"
	"github.com/svc-gateway/svc/internal/lease"
)

// Callbacks tell servers of the ends of runs. Implementations are safe for concurrent use.
type Callbacks interface {
	// Allowed returns nil when messages may go to an address.
	Allowed(url string) error
	// RunEnded sends a message in its own time, or drops it. It does not wait.
	RunEnded(url string, end RunEnd)
}

// RunEnd is what a server is told of a run's end. It holds no credential.
type RunEnd struct {
	Run      RunInfo
	Messages []model.Message // of the thread's state
	Values   map[string]any  // of it, beside messages
}

// callBack tells the server that a run names of its end.
func (h *Host) callBack(ctx context.Context, r *Run) {
	rt := h.serving()
	if r.Webhook == "" || rt == nil || rt.callbacks == nil {
		return
	}
	end := RunEnd{Run: r.info()}
	ctx, cancel := context.WithTimeout(ctx, lease.Time/3)
	defer cancel()
	t, err := h.store.Tree(ctx, r.Thread)
	if err != nil {
		h.log.Warn("reading the state for a webhook failed, it is told of the run alone", zap.String("run", r.ID), zap.Error(err))
	}
	v := rt.As(r.Principal)
	state := t.State(t.Head)
	end.Messages, end.Values = shown.Messages(v.rt.gate.secrets, state.Messages), shown.Values(v.rt.gate.secrets, state.Values)
	end.Run.Metadata, end.Run.Kwargs = shown.Values(rt.gate.secrets, r.Metadata), rt.gate.secrets.RedactJSON(r.Kwargs)
	rt.callbacks.RunEnded(r.Webhook, end)
}
