package reach

import (
	"net/netip"
	"slices"
)

// global is all of IPv6 that is given out to be reached over the internet. The rest loops back, is
// local, or holds an IPv4 address that would have to be judged itself.
var global = netip.MustParsePrefix("2000::/3")

// special are the parts of IPv4, and of global, that are not hosts on the internet, from the registries
// of special-purpose addresses (RFC 6890 and its updates).
var special = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
	"192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24",
	"198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20",
)

func prefixes(all ...string) []netip.Prefix {
	list := make([]netip.Prefix, len(all))
	for i, p := range all {
		list[i] = netip.MustParsePrefix(p)
	}
	return list
}

// metadata are addresses of the services that clouds give secrets to machines from, which are not all
// in special networks. Nothing else is there.
var metadata = []netip.Addr{
	netip.MustParseAddr("168.63.129.16"), netip.MustParseAddr("100.100.100.200"), netip.MustParseAddr("192.0.0.192"),
	netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("fd20:ce::254"),
}

// Public reports whether an address, not mapped, is one on the internet.
func Public(addr netip.Addr) bool {
	if addr.Zone() != "" || addr.Is6() && !global.Contains(addr) || slices.Contains(metadata, addr) {
		return false
	}
	return !slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// Local reports whether an address, not mapped, leads to the host that connects to it or to what serves
// that host alone: loopback, link-local, the metadata of clouds.
func Local(addr netip.Addr) bool {
	return addr.IsLoopback() || addr.IsLinkLocalUnicast() || addr.IsUnspecified() || slices.Contains(metadata, addr)
}

// The networks whose addresses lead to IPv4 addresses that they hold.
var (
	nat64      = netip.MustParsePrefix("64:ff9b::/96") // RFC 6052
	sixToFour  = netip.MustParsePrefix("2002::/16")    // RFC 3056
	compatible = netip.MustParsePrefix("::/96")        // RFC 4291, section 2.5.5.1
	teredo     = netip.MustParsePrefix("2001::/32")    // RFC 4380
)

// embedded returns the IPv4 address that an IPv6 address leads to.
func embedded(addr netip.Addr) (netip.Addr, bool) {
	b := addr.As16()
	switch {
	case !addr.Is6():
		return netip.Addr{}, false
	case nat64.Contains(addr), compatible.Contains(addr):
		return netip.AddrFrom4([4]byte(b[12:])), true
	case sixToFour.Contains(addr):
		return netip.AddrFrom4([4]byte(b[2:6])), true
	case teredo.Contains(addr):
		return netip.AddrFrom4([4]byte{^b[12], ^b[13], ^b[14], ^b[15]}), true
	}
	return netip.Addr{}, false
}
