package sandbox

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
)

// global is all of IPv6 that is given out to be reached over the internet. The rest loops back, is
// local, or holds an IPv4 address that would have to be judged itself.
var global = netip.MustParsePrefix("2000::/3")

// special are the parts of IPv4, and of global, that are not hosts on the internet, from the registries
// of special-purpose addresses (RFC 6890 and its updates).
var special = func() (all []netip.Prefix) {
	for _, p := range []string{
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
		"192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24",
		"198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
		"2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20",
	} {
		all = append(all, netip.MustParsePrefix(p))
	}
	return all
}()

// metadata are addresses of the services that clouds give secrets to machines from, which are not all
// in special networks. Nothing else is there.
var metadata = []netip.Addr{
	netip.MustParseAddr("168.63.129.16"), netip.MustParseAddr("100.100.100.200"),
	netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("fd20:ce::254"),
}

// reachable says why the proxy must not connect to an address: it is neither public nor in a network
// that the Config lists, or it is one of this host's own.
func (b *Box) reachable(addr netip.Addr) error {
	if addr.Zone() != "" {
		return errors.New("it is an address of a link")
	}
	addr = addr.Unmap()
	if addr.IsLoopback() || addr.IsUnspecified() || addr.IsLinkLocalUnicast() || addr.IsMulticast() || slices.Contains(metadata, addr) {
		return errors.New("it is local to this host")
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		return fmt.Errorf("finding the addresses of this host: %w", err)
	}
	for _, a := range own {
		if n, ok := a.(*net.IPNet); ok {
			if o, ok := netip.AddrFromSlice(n.IP); ok && o.Unmap() == addr {
				return errors.New("it is an address of this host")
			}
		}
	}
	if public(addr) || slices.ContainsFunc(b.config.Reach, func(p netip.Prefix) bool { return p.Contains(addr) }) {
		return nil
	}
	return errors.New("it is not public")
}

// public reports whether an address, not mapped, is one on the internet.
func public(addr netip.Addr) bool {
	if addr.Is6() && !global.Contains(addr) {
		return false
	}
	return !slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(addr) })
}
