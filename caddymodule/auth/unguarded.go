package auth

import (
	"context"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/caddymodule/metric"
)

// warnUnguarded warns, when a configuration starts, of requests that reach another server without an
// svc_auth, or a Cleaner beside one, in a site that has one: nobody takes the identity headers out of them that a client made up.
// A handler does not see requests of routes that it is not in, so that is all that can be done.
func (h *Handler) warnUnguarded(ctx caddy.Context) func(context.Context) error {
	server, _ := ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server)
	return func(context.Context) error {
		if server == nil {
			return nil
		}
		for _, s := range sitesOf(server) {
			if s.guards == nil || s.guards[0] != h { // the first speaks for all
				continue
			}
			for _, place := range s.gaps {
				h.logger.Warn("svc_auth guards a part of this site only: elsewhere the identity headers that clients make up reach your server. Put one svc_auth above all handle and route blocks; its option open names paths that need no credential",
					zap.String("server", server.Name()), zap.String("site", s.name), zap.String("unguarded", place))
			}
		}
		return nil
	}
}

// site is what the routes of a site do.
type site struct {
	name   string
	guards []*Handler
	gaps   []string // where a request leaves for another server without having passed a guard

	named map[string]*caddyhttp.Route
}

// sitesOf looks at the routes of a server. Those for hosts are a site each, the others are one.
func sitesOf(server *caddyhttp.Server) []*site {
	sites := []*site{{name: "*", named: server.NamedRoutes}}
	var rest caddyhttp.RouteList
	for _, r := range server.Routes {
		if hosts := metric.Hosts(r); len(hosts) > 0 {
			s := &site{name: strings.Join(hosts, ","), named: server.NamedRoutes}
			s.walk(caddyhttp.RouteList{r}, false, nil)
			sites = append(sites, s)
		} else {
			rest = append(rest, r)
		}
	}
	sites[0].walk(rest, false, nil)
	return sites
}

// walk goes through routes as a request does that each of them may match, and reports whether it has
// passed a guard at the end. on are the matchers on the way.
func (s *site) walk(routes caddyhttp.RouteList, guarded bool, on []string) bool {
	for _, r := range routes {
		always := len(r.MatcherSets) == 0 && r.Group == ""
		below := on
		if m := matchers(r); m != "" {
			below = append(slices.Clone(on), m)
		}
		if behind := s.pass(r, guarded, below); always {
			guarded = behind
		}
	}
	return guarded
}

// pass is walk for the handlers of one route.
func (s *site) pass(r caddyhttp.Route, guarded bool, on []string) bool {
	for _, h := range r.Handlers {
		switch h := h.(type) {
		case *Handler:
			s.guards, guarded = append(s.guards, h), true
		case *Cleaner:
			guarded = true // against what a client makes up; the paths are open on purpose
		case *caddyhttp.Subroute:
			guarded = s.walk(h.Routes, guarded, on)
		case *caddyhttp.Invoke:
			if named := s.named[h.Name]; named != nil {
				guarded = s.pass(*named, guarded, on)
			}
		case *reverseproxy.Handler:
			if !guarded {
				s.gaps = append(s.gaps, leads(h, on))
			}
		}
	}
	return guarded
}

// leads says where a proxy is and where it leads.
func leads(h *reverseproxy.Handler, on []string) string {
	text := "reverse_proxy"
	for _, u := range h.Upstreams {
		text += " " + u.Dial
	}
	if len(on) > 0 {
		text += " in " + strings.Join(on, " ")
	}
	return text
}

// matchers says what a route matches, as far as that is a path.
func matchers(r caddyhttp.Route) string {
	var paths []string
	for _, set := range r.MatcherSets {
		for _, m := range set {
			switch m := m.(type) {
			case *caddyhttp.MatchPath:
				paths = append(paths, *m...)
			case *caddyhttp.MatchHost:
				// the name of the site says it
			default:
				if mod, ok := m.(caddy.Module); ok {
					paths = append(paths, "@"+mod.CaddyModule().ID.Name())
				}
			}
		}
	}
	return strings.Join(paths, " ")
}
