package webhook

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"syscall"
	"time"
)

// ErrAddress is matched when the server's address is one that messages may not go to.
var ErrAddress = errors.New("the address is not allowed")

// reserved are networks without servers on the internet that [netip.Addr] does not tell by itself.
var reserved = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"), // RFC 6598, between providers and their customers
	netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("64:ff9b::/96"), // RFC 6052, leads to any IPv4 address
	netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("2002::/16"), // RFC 3056, the same
	netip.MustParsePrefix("2001::/32"), // RFC 4380, the same
}

// metadata are the addresses at which clouds tell their machines secrets, beside link-local ones.
var metadata = []netip.Addr{
	netip.MustParseAddr("fd00:ec2::254"),   // Amazon
	netip.MustParseAddr("fd20:ce::254"),    // Google
	netip.MustParseAddr("192.0.0.192"),     // Oracle
	netip.MustParseAddr("100.100.100.200"), // Alibaba
}

// nat64 is the network in which each address stands for an IPv4 one, its last four bytes (RFC 6052).
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// newClient returns a client that connects to allowed addresses only.
func newClient(private bool, timeout time.Duration) *http.Client {
	d := net.Dialer{Timeout: timeout, Control: func(_, address string, _ syscall.RawConn) error {
		return check(address, private)
	}}
	return &http.Client{
		Timeout:       timeout,
		Transport:     &http.Transport{DialContext: d.DialContext, TLSHandshakeTimeout: timeout, MaxIdleConns: 1, IdleConnTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// check looks at a resolved address, host:port, just before it is connected to.
func check(address string, private bool) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrAddress, err)
	}
	ip := ap.Addr().Unmap().WithZone("")
	target := ip
	if nat64.Contains(ip) {
		b := ip.As16()
		target = netip.AddrFrom4([4]byte(b[12:]))
	}
	switch {
	case target.IsUnspecified(), target.IsMulticast(), target.IsLinkLocalUnicast(), slices.Contains(metadata, target):
		return fmt.Errorf("%w: %s", ErrAddress, ip)
	case private:
		return nil
	case ip.IsLoopback(), ip.IsPrivate():
		return fmt.Errorf("%w: %s; approvals.webhook_private allows it", ErrAddress, ip)
	}
	for _, p := range reserved {
		if p.Contains(ip) {
			return fmt.Errorf("%w: %s", ErrAddress, ip)
		}
	}
	return nil
}
