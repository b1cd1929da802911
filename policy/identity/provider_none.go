package identity

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"

	"github.com/svc-gateway/svc/policy"
)

// NewNoneProvider returns the provider of auth.mode none, in its protected form: a request
// that comes straight from this machine acts as the operating system's user, with role admin;
// any other is refused.
//
// Straight from this machine means a loopback peer, a loopback Host (a web page cannot reach it
// by rebinding a name) and no trace of a proxy, which would make every client look local.
// Because such a request needs no credential that a web page could lack, one that a browser
// sends for a page of another origin is refused, whatever its method, unless that origin is trusted;
// origins look like "https://example.com". Following a link is nothing that the page could see.
//
// In a list of modes none should come last: what explicit credentials say counts more.
func NewNoneProvider(trustedOrigins ...string) (Provider, error) {
	p := &noneProvider{principal: OSPrincipal(os.Getuid())}
	p.principal.Source = policy.SourceNone
	for _, o := range trustedOrigins {
		if err := p.origins.AddTrustedOrigin(o); err != nil {
			return nil, fmt.Errorf("trusting origin %q: %w", o, err)
		}
	}
	return p, nil
}

type noneProvider struct {
	principal policy.Principal
	origins   http.CrossOriginProtection
}

func (*noneProvider) Name() string { return "none" }

func (p *noneProvider) Authenticate(r *http.Request) (policy.Principal, Outcome, error) {
	if obstacle := remote(r); obstacle != "" {
		return policy.Principal{}, NotMine, &Refused{
			Status: http.StatusForbidden, Code: "auth_mode_none", Reason: "not_local",
			Detail: `The setting auth.mode is "none", so only requests straight from this machine are served, and this one ` +
				obstacle + `. Set auth.mode to "token" to serve others.`,
		}
	}
	if err := p.origins.Check(ofPage(r)); err != nil {
		return policy.Principal{}, No, &Refused{
			Status: http.StatusForbidden, Code: "cross_origin", Reason: "cross_origin",
			Detail: `A web page of another origin sent this, and the setting auth.mode is "none". Add the origin to cors.origins to trust it, or set auth.mode to "token".`,
		}
	}
	return p.principal, Yes, nil
}

// ofPage is acting for a provider that gives everything to whoever asks: what a page's script asks
// for or a page embeds, also in a frame, counts like a write, because the page could read or show it.
func ofPage(r *http.Request) *http.Request {
	mode, dest := r.Header.Get("Sec-Fetch-Mode"), r.Header.Get("Sec-Fetch-Dest")
	if r.Header.Get("Origin") == "" && (mode == "" || mode == "navigate") && (dest == "" || dest == "document") {
		return acting(r)
	}
	post := *r
	post.Method = http.MethodPost
	return &post
}

// remote says why a request may come from elsewhere; empty when it comes from this machine.
func remote(r *http.Request) string {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !peer.Addr().Unmap().IsLoopback() {
		return "comes from elsewhere"
	}
	if !loopbackHost(r.Host) {
		return "names another host"
	}
	for name := range r.Header {
		if proxied(name) {
			return "came through a proxy (" + name + ")"
		}
	}
	return ""
}

// proxied reports whether a header (in canonical form) is one that proxies add.
func proxied(name string) bool {
	switch name {
	case "Forwarded", "Via", "X-Real-Ip", "X-Client-Ip", "True-Client-Ip", "Cf-Connecting-Ip":
		return true
	}
	return strings.HasPrefix(name, "X-Forwarded-")
}

// loopbackHost reports whether a Host header names this machine: localhost and the names below
// it (RFC 6761, 6.3) or a loopback address, with or without a port.
func loopbackHost(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	return err == nil && addr.Unmap().IsLoopback()
}
