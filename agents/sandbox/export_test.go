package sandbox

import (
	"net/netip"

	"github.com/svc-gateway/svc/agents/sandbox/wire"
)

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
