package reach

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// Host is an item of a list of servers that may be asked. Make it with [ParseHost].
type Host struct {
	scheme, name, port string
	below              bool // the hosts below the name, and not itself
}

// ParseHost reads an item: a host (example.org), all hosts below a name (*.example.org), an address
// (10.1.2.3, [fd00::1]), each with a port (example.org:8443) where it is not the default one. It means
// https unless http:// stands before it.
func ParseHost(text string) (Host, error) {
	h := Host{scheme: "https"}
	rest := text
	if scheme, after, ok := strings.Cut(text, "://"); ok {
		if h.scheme, rest = scheme, after; defaultPorts[scheme] == "" {
			return h, fmt.Errorf("%q has an unknown scheme: write https://, http:// or the host alone", text)
		}
	}
	if strings.ContainsAny(rest, "/?#@") {
		return h, fmt.Errorf("%q is more than a host: leave paths, queries and user names out", text)
	}
	name, port, err := split(rest)
	if err != nil {
		return h, fmt.Errorf("%q: %w", text, err)
	}
	if below, ok := strings.CutPrefix(name, "*."); ok {
		name, h.below = below, true
	}
	if strings.Contains(name, "*") {
		return h, fmt.Errorf("%q: a * may only stand for what is before a name, as in *.example.org", text)
	}
	if h.name, err = CheckName(name); err == nil {
		h.port, err = checkPort(port, defaultPorts[h.scheme])
	}
	if _, bad := netip.ParseAddr(h.name); err == nil && bad == nil && h.below {
		err = errors.New("there are no hosts below an address")
	}
	if err != nil {
		return h, fmt.Errorf("%q: %w", text, err)
	}
	return h, nil
}

// split takes the port off a host.
func split(host string) (name, port string, err error) {
	if _, err := netip.ParseAddr(host); err == nil { // an IPv6 address without brackets
		return host, "", nil
	}
	if inner, ok := strings.CutPrefix(host, "["); ok {
		name, rest, closed := strings.Cut(inner, "]")
		if port, colon := strings.CutPrefix(rest, ":"); closed && colon && port != "" {
			return name, port, nil
		} else if closed && rest == "" {
			return name, "", nil
		}
		return "", "", errors.New("the brackets of an address have to be closed, with nothing but a port behind them")
	}
	name, port, colon := strings.Cut(host, ":")
	if colon && port == "" {
		return "", "", errors.New("there is no port behind the colon")
	}
	return name, port, nil
}

// matches reports whether the item is the server of a URL that [ParseURL] has read.
func (h Host) matches(u *url.URL) (name, all bool) {
	n := u.Hostname()
	name = n == h.name && !h.below || h.below && strings.HasSuffix(n, "."+h.name)
	port, err := checkPort(u.Port(), defaultPorts[u.Scheme])
	return name, name && err == nil && u.Scheme == h.scheme && port == h.port
}

// Hosts are the servers that may be asked.
type Hosts []Host

// ParseHosts reads a list of items, see [ParseHost].
func ParseHosts(items []string) (Hosts, error) {
	var hosts Hosts
	for _, text := range items {
		h, err := ParseHost(text)
		if err != nil {
			return nil, err
		}
		hosts = append(hosts, h)
	}
	return hosts, nil
}

// Check says why the server of a URL that [ParseURL] has read must not be asked.
func (h Hosts) Check(u *url.URL) error {
	known := false
	for _, item := range h {
		name, all := item.matches(u)
		if all {
			return nil
		}
		known = known || name
	}
	if known {
		return fmt.Errorf("%s is not allowed with %s at this port", u.Hostname(), u.Scheme)
	}
	return fmt.Errorf("%s is not one of the hosts that are allowed", u.Hostname())
}

// ParseNetwork reads a network (10.1.0.0/16) or an address (10.1.2.3).
func ParseNetwork(text string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" && !a.Is4In6() {
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	if err != nil || p != p.Masked() || p.Addr().Is4In6() {
		return netip.Prefix{}, fmt.Errorf("%q is neither an address nor a network: write 10.1.2.3, or the first address of a network and the length of its prefix, as in 10.1.0.0/16", text)
	}
	return p, nil
}
