package websocket

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAsks(t *testing.T) {
	for _, tt := range []struct {
		name, method string
		header       http.Header
		want         bool
		narrowed     http.Header
		body         string
	}{
		{"a WebSocket", "GET", http.Header{"Upgrade": {"websocket"}, "Connection": {"Upgrade"}}, true, http.Header{"Upgrade": {"websocket"}, "Connection": {"Upgrade"}}, ""},
		{"with a body", "GET", http.Header{"Upgrade": {"websocket"}, "Connection": {"Upgrade"}}, false, http.Header{}, "\x81\x00"},
		{"in other letters", "GET", http.Header{"Upgrade": {" WebSocket"}}, true, http.Header{"Upgrade": {" WebSocket"}}, ""},
		{"nothing", "GET", http.Header{"Connection": {"Upgrade"}}, false, http.Header{"Connection": {"Upgrade"}}, ""},
		{"one of two", "GET", http.Header{"Upgrade": {"websocket, foo/1"}, "Connection": {"Upgrade"}}, false, http.Header{}, ""},
		{"one of two, apart", "GET", http.Header{"Upgrade": {"websocket", "foo/1"}, "Connection": {"close, upgrade"}}, false, http.Header{"Connection": {"close"}}, ""},
		{"another method", "POST", http.Header{"Upgrade": {"websocket"}}, false, http.Header{}, ""},
		{"with a version", "GET", http.Header{"Upgrade": {"websocket/13"}}, false, http.Header{}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest(tt.method, "/", strings.NewReader(tt.body))
			r.Header = tt.header
			if got := Asks(r); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
			if Narrow(r); cmp.Diff(tt.narrowed, r.Header) != "" {
				t.Errorf("(-want +got):\n%s", cmp.Diff(tt.narrowed, r.Header))
			}
		})
	}
}

func TestOpens(t *testing.T) {
	for _, tt := range []struct {
		name   string
		header http.Header
		want   bool
	}{
		{"a WebSocket", http.Header{"Upgrade": {"WebSocket"}}, true},
		{"nothing", http.Header{}, false},
		{"something else", http.Header{"Upgrade": {"h2c"}}, false},
		{"more", http.Header{"Upgrade": {"websocket", "h2c"}}, false},
		{"an extension", http.Header{"Upgrade": {"websocket"}, "Sec-Websocket-Extensions": {"permessage-deflate"}}, false},
		{"an extension, as RFC 6455 writes it", http.Header{"Upgrade": {"websocket"}, "Sec-WebSocket-Extensions": {"permessage-deflate"}}, false}, //nolint:canonicalheader // as reverse_proxy does
	} {
		if got := Opens(tt.header); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}
