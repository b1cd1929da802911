package interop_test

import (
	"testing"

	"github.com/svc-gateway/svc/caddymodule/auth/caddytest"

	_ "github.com/svc-gateway/svc/caddymodule/auth"
	_ "github.com/svc-gateway/svc/caddymodule/redact"
	_ "github.com/svc-gateway/svc/caddymodule/scan"
	_ "github.com/svc-gateway/svc/caddymodule/stream"
)

// stages are all stages, with everything on that looks into bodies.
const stages = `
svc_auth
svc_scan {
	bodies request response
	action block
	max_body 1GiB
}
svc_redact
svc_stream
`

// behind starts the stages in front of an upstream.
func behind(t *testing.T, upstream string) *caddytest.Server {
	t.Helper()
	return caddytest.Start(t, caddytest.Config{
		Global: "servers {\nprotocols h1 h2 h2c\n}", Site: stages + "reverse_proxy " + upstream,
	})
}
