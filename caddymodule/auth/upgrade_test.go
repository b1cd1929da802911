package auth

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/google/go-cmp/cmp"
)

// The attack: a client has the server behind switch to h2c, on a connection that is handed through,
// and sends whatever it likes on it, as whomever it likes. On /health it needs no credential.
func TestNobodyTalksPastUs(t *testing.T) {
	const shown, path = "X-Shown", "X-Original-Url"
	for _, tt := range []struct {
		name, target string
		sent, want   http.Header
	}{
		{"h2c", "/", http.Header{"Upgrade": {"h2c"}}, http.Header{}},
		{"h2c, otherwise", "/", http.Header{"Upgrade": {"websocket, H2C"}}, http.Header{}},
		{"h2c, apart", "/", http.Header{"Upgrade": {"websocket", "h2c"}}, http.Header{}},
		{"HTTP with a version", "/", http.Header{"Upgrade": {"HTTP/2.0"}}, http.Header{}},
		{"TLS", "/", http.Header{"Upgrade": {"TLS/1.0"}}, http.Header{}},
		{"a WebSocket", "/", http.Header{"Upgrade": {"websocket"}}, http.Header{"Upgrade": {"websocket"}}},
		{"another path", "/", http.Header{path: {"/x"}}, http.Header{path: {"/x"}}},
		{"h2c, by anybody", "/health", http.Header{"Upgrade": {"h2c"}}, http.Header{}},
		{"a WebSocket, by anybody", "/health", http.Header{"Upgrade": {"websocket"}}, http.Header{}},
		{"another path, by anybody", "/health", http.Header{path: {"/x"}, "X-Rewrite-Url": {"/x"}, shown: {"1"}}, http.Header{shown: {"1"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got http.Header
			r := httptest.NewRequest(http.MethodGet, tt.target, nil)
			r.Header = tt.sent
			err := newTestHandler(new(fakeAudit), fakeProvider{}).ServeHTTP(httptest.NewRecorder(), r, caddyhttp.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) error {
				got = r.Header.Clone()
				return nil
			}))
			if err != nil {
				t.Fatal(err)
			}
			delete(got, requestID)
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("the next handler's header (-want +got):\n%s", d)
			}
		})
	}
}
