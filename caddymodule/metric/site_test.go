package metric

import (
	"context"
	"net/http"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

type handler struct{ _ byte }

func (*handler) ServeHTTP(http.ResponseWriter, *http.Request, caddyhttp.Handler) error { return nil }

func TestPlace(t *testing.T) {
	one, two, deep, all, elsewhere := new(handler), new(handler), new(handler), new(handler), new(handler)
	host := func(names ...string) caddyhttp.MatcherSet {
		m := caddyhttp.MatchHost(names)
		return caddyhttp.MatcherSet{&m}
	}
	path := caddyhttp.MatchPath{"/x"}
	route := func(h caddyhttp.MiddlewareHandler, sets ...caddyhttp.MatcherSet) caddyhttp.Route {
		return caddyhttp.Route{MatcherSets: sets, Handlers: []caddyhttp.MiddlewareHandler{h}}
	}
	sub := func(routes ...caddyhttp.Route) *caddyhttp.Subroute { return &caddyhttp.Subroute{Routes: routes} }
	server := &caddyhttp.Server{Routes: caddyhttp.RouteList{
		route(sub(route(one)), host("one.example.com")),
		route(sub(route(two, caddyhttp.MatcherSet{&path})), host("two.example.com", "also.example.com")),
		route(sub(route(sub(route(deep)), host("*.example.com"))), caddyhttp.MatcherSet{&path}),
		route(all, host("some.example.com"), caddyhttp.MatcherSet{&path}),
	}}
	ctx := context.WithValue(t.Context(), caddyhttp.ServerCtxKey, server)
	for h, want := range map[*handler]string{
		one: "one.example.com", two: "two.example.com,also.example.com", deep: "*.example.com", all: "*", elsewhere: "*",
	} {
		if _, got := new(Place).Of(ctx, h); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if _, got := new(Place).Of(t.Context(), one); got != "" {
		t.Errorf("without a server: got %q", got)
	}
}
