package websocket

import (
	"net/http"
	"strings"
)

// Asks reports whether the request opens a WebSocket, and nothing else (RFC 6455, section 4.1). One with a
// body does not: a server may take the body for frames.
func Asks(r *http.Request) bool {
	return r.Method == http.MethodGet && r.ContentLength == 0 && isSocket(r.Header["Upgrade"])
}

// Opens reports whether the header of a 101 opens a WebSocket without extensions, whose messages can be
// read.
func Opens(h http.Header) bool {
	for name, values := range h { // reverse_proxy writes them as RFC 6455 does, not as http.Header does
		if strings.EqualFold(name, "Sec-WebSocket-Extensions") && len(values) > 0 {
			return false
		}
	}
	return isSocket(h["Upgrade"])
}

func isSocket(upgrade []string) bool {
	return len(upgrade) == 1 && strings.EqualFold(strings.TrimSpace(upgrade[0]), "websocket")
}

// Plain takes the wish for extensions away: messages could be compressed.
func Plain(h http.Header) { delete(h, "Sec-Websocket-Extensions") }

// Narrow takes the wish for any other protocol than WebSocket away. A server is free to ignore Upgrade
// (RFC 9110, section 7.8); so it does not see it.
func Narrow(r *http.Request) {
	h := r.Header
	if h["Upgrade"] == nil || Asks(r) {
		return
	}
	delete(h, "Upgrade")
	var keep []string
	for option := range strings.SplitSeq(strings.Join(h["Connection"], ","), ",") {
		if option = strings.TrimSpace(option); option != "" && !strings.EqualFold(option, "upgrade") {
			keep = append(keep, option)
		}
	}
	h["Connection"] = []string{strings.Join(keep, ", ")}
	if len(keep) == 0 {
		delete(h, "Connection")
	}
}
