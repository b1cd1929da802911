// Package redact is the Caddy handler svc_redact: credentials in the answers of whatever
// handler stands behind it do not reach the client.
//
//	example.com {
//		svc_redact
//		reverse_proxy localhost:8000
//	}
//
// What becomes of a response depends on its Content-Type:
//
//   - application/json and +json: a document; the values of its strings are redacted.
//   - text/event-stream: each field of the events' JSON is followed from event to event, so a
//     secret that is spread over several is found. Events keep their number and order, and
//     pass as soon as they come, unless their text ends in what may begin a secret. If these are
//     three letters or less they pass when nothing more came for a quarter of a second.
//   - application/x-ndjson and its kin: a document a line, followed in the same way.
//   - images (SVG excepted), audio, video, fonts and the archive and office formats listed in
//     types.go, plus those of the option pass: untouched. So is what is compressed and has no such
//     type, if it is no text.
//   - everything else, unknown and missing types too: redacted as text, or as a document when
//     it begins like one.
//
// Beside what package scanner finds by itself, values of the option secret, the secrets that the
// settings of the app svc refer to, and the credentials that the request has shown are known.
//
// A redacted response loses Content-Length, Accept-Ranges, ETag and the digest fields, which
// described other bytes. Header and trailer values are redacted as well, a password inside a
// Location too; Set-Cookie is not, for a cookie is meant for this client.
//
// The stage fails closed: it asks upstreams for complete and uncompressed answers, and where
// one comes in a form that cannot be redacted (compressed, a byte range, UTF-16) the client
// gets a 502 problem instead; where only the first bytes tell, the response breaks off.
// Tunnels and protocol upgrades are not offered behind it, WebSockets excepted: their text messages
// are redacted one by one. Extensions, which could compress them, are not agreed on.
//
// The output does not depend on how the handler cuts its writes. Handlers may be used by many
// requests at once; the writer of one response must not be used by two goroutines at a time.
package redact
