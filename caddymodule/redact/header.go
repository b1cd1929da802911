package redact

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/scanner/redact"
)

// describing are the fields that describe a body byte for byte.
var describing = []string{"Content-Length", "Accept-Ranges", "Digest", "Content-Digest", "Repr-Digest", "Content-Md5", "Content-Range"}

// weaken has the entity tag say that the body is not the same byte for byte (RFC 9110, section 8.8.3).
func weaken(h http.Header) {
	if tag := h.Get("Etag"); strings.HasPrefix(tag, `"`) {
		h["Etag"] = []string{"W/" + tag}
	}
}

// redactHeader redacts the values in place, unless it only observes. A field is read as one line, so that a secret
// behind a telling name (X-Snmp-Community: …) is found.
func (w *writer) redactHeader(h http.Header) {
	defer func() { w.report.header = "" }()
	for name, values := range h {
		bare := strings.TrimPrefix(name, http.TrailerPrefix)
		if w.report.header = bare; exempt(name) {
			continue
		}
		copied := false
		for i, v := range values {
			clean := w.redactValue(bare, v)
			if clean == v || w.observes() {
				continue
			}
			if !copied { // the slice may be shared, with other responses even
				values, copied = slices.Clone(values), true
				h[name] = values
			}
			values[i] = clean
		}
	}
}

func (w *writer) redactValue(name, value string) string {
	if w.handler.Allow.header(name) {
		return w.secrets.Known(value)
	}
	if name == "Location" || name == "Content-Location" || name == "Refresh" || name == "Link" {
		value = hidePassword(value)
	}
	prefix := name + ": "
	if redact.Handle(name) {
		prefix = "" // what the client hands back with its next request
	}
	clean, ok := strings.CutPrefix(w.secrets.Redact(prefix+value), prefix)
	if !ok {
		return redact.Mark
	}
	return clean
}

// hidePassword replaces the password in the user information of the first URL in value.
func hidePassword(value string) string {
	scheme := strings.Index(value, "://")
	if scheme < 0 {
		return value
	}
	authority := value[scheme+3:]
	if end := strings.IndexAny(authority, "/?#\\"); end >= 0 {
		authority = authority[:end]
	}
	at := strings.LastIndexByte(authority, '@')
	if at < 0 {
		return value
	}
	user, _, ok := strings.Cut(authority[:at], ":")
	if !ok {
		return value
	}
	start := scheme + 3
	return value[:start] + user + ":" + url.QueryEscape(redact.Mark) + value[start+at:]
}

// exempt reports whether the field's grammar leaves no room for a credential, or holds one that
// is meant for this client.
func exempt(name string) bool {
	switch name {
	case "Age", "Allow", "Alt-Svc", "Cache-Control", "Connection", "Content-Encoding", "Content-Length",
		"Content-Security-Policy", "Content-Type", "Date", "Etag", "Expires", "Last-Modified", "Retry-After",
		"Sec-Websocket-Accept", "Sec-WebSocket-Accept", // as reverse_proxy writes it
		"Server", "Set-Cookie", "Strict-Transport-Security", "Trailer", "Transfer-Encoding", "Upgrade",
		"Vary", "Via", "Www-Authenticate", "X-Accel-Buffering", "X-Content-Type-Options",
		"X-Frame-Options", "X-Request-Id":
		return true
	}
	return strings.HasPrefix(name, "Access-Control-")
}
