package metric

import (
	"context"
	"strings"
	"sync"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// Place is where a handler stands: the values of its labels server and site. The zero value is ready; a
// handler has one of its own.
type Place struct {
	once         sync.Once
	server, site string
}

// Of returns the name of the server, as Caddy's own metrics have it, and the site: the names of hosts as
// they were configured, joined with commas, or * where the routes that lead to the handler name none.
// ctx is that of a request to the handler. There are as many values as the configuration has sites,
// whatever clients ask for.
func (p *Place) Of(ctx context.Context, h caddyhttp.MiddlewareHandler) (server, site string) {
	p.once.Do(func() {
		if s, ok := ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server); ok {
			p.server, p.site = s.Name(), siteOf(s.Routes, h)
		}
	})
	return p.server, p.site
}

// siteOf names the site whose routes have the handler.
func siteOf(routes caddyhttp.RouteList, h caddyhttp.MiddlewareHandler) string {
	for _, r := range routes {
		if !holds(r, h) {
			continue
		}
		if hosts := Hosts(r); len(hosts) > 0 {
			return strings.Join(hosts, ",")
		}
		for _, inner := range r.Handlers {
			if sub, ok := inner.(*caddyhttp.Subroute); ok {
				if site := siteOf(sub.Routes, h); site != anySite {
					return site
				}
			}
		}
	}
	return anySite
}

// anySite is the site of a handler that is there for all hosts, or for several sites at once.
const anySite = "*"

// holds reports whether a handler stands in a route, or within one of its handlers.
func holds(r caddyhttp.Route, h caddyhttp.MiddlewareHandler) bool {
	for _, inner := range r.Handlers {
		if inner == h {
			return true
		}
		if sub, ok := inner.(*caddyhttp.Subroute); ok {
			for _, r := range sub.Routes {
				if holds(r, h) {
					return true
				}
			}
		}
	}
	return false
}

// Hosts returns the names of the hosts that a route is for; none if it is for others, too.
func Hosts(r caddyhttp.Route) []string {
	var hosts []string
	for _, set := range r.MatcherSets {
		var found bool
		for _, m := range set {
			if h, ok := m.(*caddyhttp.MatchHost); ok {
				hosts, found = append(hosts, *h...), true
			}
		}
		if !found {
			return nil
		}
	}
	return hosts
}
