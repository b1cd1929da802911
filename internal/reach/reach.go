package reach

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
)

// Rule says which addresses beside the public ones may be connected to. The zero value allows the
// public ones only.
type Rule struct {
	// Networks are not public and allowed nevertheless. A network never opens what is local to a host:
	// loopback, link-local addresses, the metadata of clouds and the addresses of this host.
	Networks []netip.Prefix
	// Local has a network of a single address open that address also when it is local to a host.
	Local bool
	// Own has loopback and the addresses of this host judged like those of other hosts.
	Own bool
}

// Check says why an address must not be connected to.
func (r Rule) Check(addr netip.Addr) error {
	if addr.Zone() != "" {
		return errors.New("it is an address of a link")
	}
	addr = addr.Unmap()
	if addr.IsUnspecified() || addr.IsMulticast() {
		return errors.New("it is not the address of one host")
	}
	if r.Local && slices.Contains(r.Networks, netip.PrefixFrom(addr, addr.BitLen())) {
		return nil
	}
	if Local(addr) && (!r.Own || !addr.IsLoopback()) {
		return errors.New("it is local to this host")
	}
	if !r.Own {
		if err := notOurs(addr); err != nil {
			return err
		}
	}
	switch {
	case Public(addr):
		return nil
	case !slices.ContainsFunc(r.Networks, func(p netip.Prefix) bool { return p.Contains(addr) }):
		return errors.New("it is not public")
	}
	if inner, ok := embedded(addr); ok {
		return r.Check(inner)
	}
	return nil
}

// notOurs returns an error for an address that this host has.
func notOurs(addr netip.Addr) error {
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
	return nil
}
