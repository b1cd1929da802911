// Package order puts our directives into their places among Caddy's own.
//
// Every package with a directive imports it for its side effect, so that a build with any
// choice of our stages has the same order: svc_auth before Caddy's authentication; svc_scan,
// svc_redact and svc_stream, in this order, inside encode, so that they see plain bodies;
// svc_agents among the handlers that answer. An order directive in a Caddyfile still wins.
//
// All happens in one init function, because the order of the init functions of several
// packages depends on their names. There is nothing to call.
package order

import "github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"

func init() {
	httpcaddyfile.RegisterDirectiveOrder("svc_auth", httpcaddyfile.Before, "basic_auth")
	// Each is put directly before push, hence after the one registered before it.
	for _, stage := range []string{"svc_scan", "svc_redact", "svc_stream"} {
		httpcaddyfile.RegisterDirectiveOrder(stage, httpcaddyfile.Before, "push")
	}
	httpcaddyfile.RegisterDirectiveOrder("svc_agents", httpcaddyfile.Before, "respond")
}
