package auth

import (
	"net/http"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/internal/headername"
)

// guardUpgrade takes away the wish for a protocol that carries requests of its own, such as h2c
// (RFC 7540, 3.2). A server behind that grants it would be talked to past this stage, which sees
// the first request alone. A server is free to ignore Upgrade (RFC 9110, 7.8), so it does not see
// it.
func guardUpgrade(h http.Header) {
	if slices.ContainsFunc(h["Upgrade"], carriesRequests) {
		delete(h, "Upgrade")
	}
}

// carriesRequests reports whether a value of Upgrade names HTTP, by itself or within TLS.
func carriesRequests(value string) bool {
	for protocol := range strings.SplitSeq(value, ",") {
		name, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(protocol)), "/")
		if name == "h2c" || name == "h2" || name == "http" || name == "tls" {
			return true
		}
	}
	return false
}

// keepToPath takes away what would have a server behind answer for more than a path that everybody
// may ask for: another protocol, and headers that some servers take for the path or the
// method, in any spelling.
func keepToPath(h http.Header) {
	for name := range h {
		if astray[headername.Fold(name)] {
			delete(h, name)
		}
	}
}

var astray = headername.Set(
	"Upgrade", "X-Original-Url", "X-Rewrite-Url", "X-Original-Uri", "X-Original-Method",
	"X-Http-Method", "X-Http-Method-Override", "X-Method-Override", "X-Override-Url", "X-Replaced-Path",
	"X-Envoy-Original-Path", "X-Forwarded-Uri", "X-Forwarded-Path", "X-Forwarded-Method",
)
