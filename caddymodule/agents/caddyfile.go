package agents

import (
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/svc-gateway/svc/agents/api"
)

// parseCaddyfile reads the directive:
//
//	svc_agents [<matcher>] {
//		default_stream_dialect spec|langgraph
//	}
func parseCaddyfile(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
	h.Next() // directive name
	if h.NextArg() {
		return nil, h.Errf("svc_agents takes no argument, found %q", h.Val())
	}
	handler := new(Handler)
	for h.NextBlock(0) {
		if h.Val() != "default_stream_dialect" {
			return nil, h.Errf("svc_agents has no option %q: the runtime is set up in the global option svc", h.Val())
		}
		switch args := h.RemainingArgs(); {
		case handler.DefaultStreamDialect != "":
			return nil, h.Err("default_stream_dialect: is given twice")
		case len(args) != 1 || !slices.Contains(api.Dialects(), args[0]):
			return nil, h.Errf("default_stream_dialect: must be spec or langgraph, found %q", strings.Join(args, " "))
		default:
			handler.DefaultStreamDialect = args[0]
		}
	}
	return handler, nil
}
