// Package svc is the root of the module. It holds the default configuration, [Caddyfile], and
// the tests that look at the repository as a whole; everything else is in the packages below.
// Its variables are read-only and safe for concurrent use.
package svc

import _ "embed"

// Caddyfile is the configuration that the service starts with when it is given none.
//
//go:embed Caddyfile
var Caddyfile []byte
