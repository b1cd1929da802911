package webhook

import (
	"fmt"
	"net/netip"

	"github.com/svc-gateway/svc/internal/reach"
)

// ErrAddress is matched when the server's address is one that messages may not go to.
var ErrAddress = reach.ErrRefused

// everywhere is every network. A rule does not open with it what is link-local, nor the metadata of clouds.
var everywhere = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}

// check looks at a resolved address. The administrator chose the server, which may be this host.
func check(a netip.Addr, private bool) error {
	anywhere := reach.Rule{Own: true, Networks: everywhere}.Check(a)
	if private || anywhere != nil {
		return anywhere
	}
	if err := (reach.Rule{Own: true}).Check(a); err != nil {
		return fmt.Errorf("%w; approvals.webhook_private allows it", err)
	}
	return nil
}
