package agents

import (
	"context"
	"errors"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/approval"
	"github.com/svc-gateway/svc/caddymodule/app"
	"github.com/svc-gateway/svc/internal/bus"
)

// start begins to work with a configuration's runtime.
func (h *Handler) start(ctx context.Context, a *app.App, opened *host, rt *agents.Runtime, p plan, desk approval.Config) error {
	if err := h.toolbox.start(); err != nil {
		return err
	}
	leave := rt.Serve()
	h.leave = leave
	opened.hooks.Redact(p.Secrets)
	if err := recordAgents(ctx, a.Audit(), p.definitions); err != nil {
		return err
	}
	if err := h.skills.record(ctx, a.Audit(), a.Secrets()); err != nil {
		return err
	}
	if err := recoverRuns(ctx, rt, p.Log); err != nil {
		return err
	}
	release := opened.desk.Serve(desk)
	idle := opened.crons.Serve(h.api.Crons())
	apart := opened.tasks.Serve(p.remotes, a.Secrets())
	h.forgets = until(p.memory.Serve)
	h.leave = func() { apart(); idle(); release(); leave() }
	return nil
}

// recoverRuns closes what an earlier process left behind. While the live bus is away nobody knows
// which runs others are at: that is no reason not to serve. The host looks again by itself.
func recoverRuns(ctx context.Context, rt *agents.Runtime, log *zap.Logger) error {
	err := rt.Recover(ctx)
	if errors.Is(err, bus.ErrUnavailable) {
		log.Warn("runs of earlier processes are not closed yet: the live bus is away", zap.Error(err))
		return nil
	}
	return err
}
