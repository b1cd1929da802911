package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Who mixes up http and https is told so, whatever the other side makes of it.
func TestMixedUpSchemes(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	for _, tt := range []struct{ base, want string }{
		{strings.Replace(plain.URL, "http:", "https:", 1), "is it TLS that is spoken there"},
		{strings.Replace(secure.URL, "https:", "http:", 1), "try https in --url"},
	} {
		_, err := target{base: tt.base, prefix: "/auth", http: http.DefaultClient}.whoami(t.Context())
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want an error with %q", tt.base, err, tt.want)
		}
	}
}
