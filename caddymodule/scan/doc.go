// Package scan is the Caddy handler svc_scan: it looks for injected instructions in request and
// response bodies, on their way to and from whatever handler stands behind it.
//
//	example.com {
//		svc_scan {
//			action block role_hijacking
//		}
//		reverse_proxy localhost:8000
//	}
//
// The findings of a body are logged as one WARNING and go to the audit log as one event of type
// injection, and placeholders tell later handlers: {http.svc_scan.count} and
// {http.svc_scan.categories} (sorted, joined with commas), and the same below
// http.svc_scan.response. By category more can be done: annotate adds headers, block refuses the
// body, or ends a stream that has begun, in the shape that the client speaks (asker).
//
// # How
//
// What package media says of a body decides how it is scanned: the strings of a JSON document
// (walker), events and lines one by one (records), the parts of a form by their own types (parts), a
// long text in overlapping windows (windows), messages of gRPC as they come (frames). Of bytes that
// neither the type nor themselves let pass as text only the sentences are scanned (runs). All of it
// passes the report, which takes turns with all other large bodies of the process (pace).
//
// A connection whose protocol changes leaves the bodies behind. Where that is a WebSocket (tunnel,
// socket), each message of a direction is scanned like a body of its side (talk), and a refusal is a
// Close frame to both ends. Where something may be blocked or annotated, no other protocol passes.
//
// # Guarantees
//
// What passes arrives unchanged, byte for byte; events and lines keep order and number. Where
// something may be blocked, no byte passes before it was scanned. A body of up to max_scan bytes
// is scanned as a whole, JSON by its decoded strings, a longer one in overlapping windows; so
// memory is bounded. What cannot be scanned is refused rather than let through in silence:
// compressed bodies unless they are to be decoded, those in UTF-16 or UTF-32, those beyond
// max_body, those that have waited for a turn too long.
//
// # Concurrency
//
// A handler may be used by many requests at once.
package scan
