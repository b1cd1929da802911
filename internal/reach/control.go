package reach

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"syscall"
)

// ErrRefused is in the chain of the error for an address that is not allowed.
var ErrRefused = errors.New("the address is not allowed")

// Control returns a function for [net.Dialer.ControlContext] that lets it connect, over TCP, only to
// addresses that check has nothing against.
func Control(check func(netip.Addr) error) func(ctx context.Context, network, address string, _ syscall.RawConn) error {
	return func(_ context.Context, network, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err == nil && !strings.HasPrefix(network, "tcp") {
			err = fmt.Errorf("network %s", network)
		}
		if err == nil {
			err = check(at.Addr())
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrRefused, err)
		}
		return nil
	}
}
