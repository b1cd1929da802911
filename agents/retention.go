package agents

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/retention"
)

const (
	sweepEvery = 10 * time.Minute
	sweepTime  = 3 * sweepEvery // how long one process has the sweep for itself
	sweepKey   = "retention"    // of the lease
)

// sweepAgain removes what is old, from time to time, in one process at a time.
func (h *Host) sweepAgain() {
	h.sweepOnce()
	h.every(sweepEvery, h.sweepOnce)
}

func (h *Host) sweepOnce() {
	rt := h.serving()
	if rt == nil {
		return
	}
	token, err := h.bus.Lease(h.base, sweepKey, h.node, sweepTime)
	if err == nil && token != 0 {
		err = h.Sweep(h.base, rt.retention, time.Now())
	}
	if err != nil && h.base.Err() == nil {
		h.log.Warn("removing what is old failed, trying again", zap.Error(err))
	}
}

// Sweep removes what is older than the policy wants.
func (h *Host) Sweep(ctx context.Context, p retention.Policy, now time.Time) error {
	used := func(err error) bool { return errors.Is(err, ErrBusy) || errors.Is(err, ErrThreadNotFound) }
	return retention.Sweeper{Store: h.store, Audit: h.audit, Log: h.log, Used: used}.Sweep(ctx, p, now)
}
