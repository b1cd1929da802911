package auth

import (
	"net/http/httptest"
	"testing"
)

// Without auth.public_url a client is told the host that it said, if that can stand in a header.
func TestResourceOfAHost(t *testing.T) {
	for host, want := range map[string]string{
		"gw.test":               "http://gw.test/mcp",
		"GW.test:80":            "http://gw.test/mcp",
		"127.0.0.1:2280":        "http://127.0.0.1:2280/mcp",
		"[::1]:2280":            "http://[::1]:2280/mcp",
		"":                      "",
		"x'y":                   "",
		`x"y`:                   "",
		"x/y":                   "",
		"x@y":                   "",
		"x y":                   "",
		"x\ty":                  "",
		"x:y":                   "",
		"x\ny":                  "",
		"x\n":                   "",
		"caf\u00e9":             "",
		`x", error="evil.test"`: "",
	} {
		r := httptest.NewRequest("GET", "/mcp", nil)
		r.Host = host
		if got := new(resource).address(r, "/mcp"); got != want {
			t.Errorf("%q: got %q, want %q", host, got, want)
		}
	}
}
