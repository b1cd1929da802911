package sandbox

import (
	"context"
	"net/netip"

	"github.com/svc-gateway/svc/agents/sandbox/wire"
)

// OpenMode is Open for one mode.
func OpenMode(ctx context.Context, c Config, mode string) (*Box, error) {
	return open(ctx, c, wire.Mode(mode))
}

// Weaken has helpers that are started from now on leave out layers, if they are built for that.
func Weaken(layers string) (restore func()) {
	old := helperEnvironment
	helperEnvironment = func() []string { return append(old(), "SVC_SANDBOX_WITHOUT="+layers) }
	return func() { helperEnvironment = old }
}

// SetReach replaces the rule about addresses.
func (b *Box) SetReach(reach func(netip.Addr) error) { b.reach = reach }

// Helper is the process of the helper.
func (b *Box) Helper() int { return b.server.now.cmd.Process.Pid }

// WireVersion is what the helper speaks.
const WireVersion = wire.Version
