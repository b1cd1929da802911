package redact_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestNoSocket holds that a server which does not open the WebSocket that it was asked for is heard, and that
// one which opens something else is refused, never taken for a 200.
func TestNoSocket(t *testing.T) {
	const head = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n"
	var answer string
	srv := serve(t, "", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") == "" {
			_, _ = io.WriteString(w, "no upgrade")
			return
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, answer)
	})
	for _, tt := range []struct {
		name, upgrade, sent, answer string
		status                      int
		want                        string
	}{
		{"another protocol than was asked for", "websocket", "", head + "Upgrade: chat/1\r\n\r\n", 502, "upstream_upgraded"},
		{"none", "websocket", "", "HTTP/1.1 101 Switching Protocols\r\n\r\n", 502, "upstream_upgraded"},
		{"an extension", "websocket", "", head + "Upgrade: websocket\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n", 502, "upstream_upgraded"},
		{"a refusal", "websocket", "", "HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno", 403, "no"},
		{"something else is not asked for", "chat/1", "", head + "Upgrade: chat/1\r\n\r\n", 200, "no upgrade"},
		{"nor a WebSocket with a body", "websocket", "body", head + "Upgrade: websocket\r\n\r\n", 200, "no upgrade"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			answer = tt.answer
			resp, body := srv.Do(http.MethodGet, "/", tt.sent, "Connection", "Upgrade", "Upgrade", tt.upgrade, "Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")
			if resp.StatusCode != tt.status || !strings.Contains(body, tt.want) {
				t.Errorf("got %s %s, want %d %s", resp.Status, body, tt.status, tt.want)
			}
		})
	}
}
