package app

import (
	"context"
	"errors"
	"net"
	"os"

	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

type peerKey struct{}

// peer is who is at the other end of a control connection, as the kernel says.
type peer struct {
	uid uint32
	err error
}

// withPeer notes a new connection's peer for its requests.
func withPeer(ctx context.Context, c net.Conn) context.Context {
	var p peer
	p.uid, p.err = peerUID(c)
	return context.WithValue(ctx, peerKey{}, p)
}

// localPrincipal returns the principal of a control request. Errors are for the client; with one
// the principal has no role, and a name only when it is known.
func localPrincipal(ctx context.Context) (policy.Principal, error) {
	p, ok := ctx.Value(peerKey{}).(peer)
	if !ok || p.err != nil {
		return policy.Principal{}, errors.New("the operating system does not say who the caller is")
	}
	if p.uid != 0 && int(p.uid) != os.Geteuid() {
		return policy.Principal{User: identity.OSPrincipal(int(p.uid)).User}, errors.New("only root and the service's own user may use the control socket")
	}
	return identity.OSPrincipal(int(p.uid)), nil
}
