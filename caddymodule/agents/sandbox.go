package agents

import (
	"context"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/sandbox"
)

// trySandbox finds out which sandbox this host allows, and says so. The service goes on without one.
func trySandbox(ctx context.Context, c sandbox.Config, log *zap.Logger) {
	box, err := sandbox.Open(ctx, c)
	switch {
	case ctx.Err() != nil: // the service stops
		if err == nil {
			box.Close()
		}
		return
	case err != nil:
		log.Warn("programs cannot be run in a sandbox, and are refused", zap.Error(err))
		return
	}
	defer box.Close()
	if c.Network == sandbox.HostNetwork {
		log.Warn("programs in the sandbox reach the host's network, because sandbox.network is host")
	}
	if box.Mode() == "full" {
		log.Info("programs can be run in a sandbox", zap.String("mode", box.Mode()))
		return
	}
	log.Warn("programs can be run in a sandbox that is weaker than it could be",
		zap.String("mode", box.Mode()), zap.Strings("because", box.Weaker()))
}
