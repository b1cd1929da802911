package auth

import (
	"net/http"
	"slices"
	"strings"
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

// keepToPath takes away what would have a server behind answer for more than the path that
// everybody may ask for: another protocol, and headers that some servers take for the path.
func keepToPath(h http.Header) {
	for _, name := range []string{"Upgrade", "X-Original-Url", "X-Rewrite-Url"} {
		delete(h, name)
	}
}
