// Package scan is the Caddy handler svc_scan: it looks for injected instructions in request
// bodies, on their way to whatever handler stands behind it.
//
//	example.com {
//		svc_scan
//		reverse_proxy localhost:8000
//	}
//
// Findings never stop a request. Each is logged as a WARNING, the request's findings go to the
// audit log as one event of type injection, and two placeholders tell later handlers:
// {http.svc_scan.count} and {http.svc_scan.categories} (sorted, joined with commas).
//
// The body arrives unchanged, byte for byte. One of up to max_scan bytes is read and scanned
// before the next handler runs: JSON by its decoded strings, anything else as text. A longer
// one is scanned in overlapping windows while the handler reads it; then the placeholders have
// their final values when the handler is through. What cannot be scanned is refused rather than
// let through in silence: compressed bodies and those in UTF-16 or UTF-32 get 415, those beyond
// max_body 413.
//
// A handler may be used by many requests at once.
package scan
