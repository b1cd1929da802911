// Package reach tells which addresses this service may connect to for somebody else, be it a program in
// a sandbox, an agent or a setting: public ones, and others only where a [Rule] lists them.
//
//	rule := reach.Rule{Networks: []netip.Prefix{intranet}}
//	d := net.Dialer{ControlContext: reach.Control(rule.Check)}
//	conn, err := d.DialContext(ctx, "tcp", host) // errors.Is(err, reach.ErrRefused)
//
// [Control] is called with the address that is about to be connected to, after the name was looked up.
// So a name that has another address a moment later leads nowhere else.
//
// What is public is decided by the registries of special-purpose addresses (RFC 6890 and its updates).
// Of IPv6 that is what was given out for the internet, so an address that holds an IPv4 address (mapped,
// NAT64, 6to4, Teredo) is not public. A network of them that is listed opens those of allowed addresses.
//
// The functions are safe for concurrent use. They keep nothing, and ask nobody but the kernel, for the
// addresses of this host.
package reach
