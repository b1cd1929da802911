package agents

import (
	"context"
	"fmt"
	"strings"

	"github.com/svc-gateway/svc/agents/eventlog"
	"github.com/svc-gateway/svc/internal/lease"
)

// holderMark stands between a node's name and the rest of a lease's holder.
const holderMark = "#"

// holder is the node that has a run's lease, empty when nobody has.
func (h *Host) holder(ctx context.Context, run string) (node string, err error) {
	holder, err := h.bus.Holder(ctx, eventlog.Topic(run))
	if err != nil {
		return "", fmt.Errorf("finding the process that has the run: %w", err)
	}
	return holder[:max(0, strings.LastIndex(holder, holderMark))], nil
}

// lease takes the lease on a run; the error is [lease.ErrTaken] while somebody has it.
func (h *Host) lease(ctx context.Context, run string) (*lease.Lease, error) {
	return lease.Take(ctx, h.bus, eventlog.Topic(run), h.node+holderMark+newID())
}
