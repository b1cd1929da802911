package identity_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

func TestNoneProvider(t *testing.T) {
	none, err := identity.NewNoneProvider("https://ui.example.com")
	if err != nil {
		t.Fatal(err)
	}
	const local = "127.0.0.1:4711"
	type h = http.Header
	tests := map[string]struct {
		method, peer, host string
		header             h
		code               string
	}{
		"local":                          {"POST", local, "localhost:2280", nil, ""},
		"address":                        {"POST", local, "127.0.0.1:2280", nil, ""},
		"another loopback address":       {"GET", "127.3.2.1:1", "127.9.9.9", nil, ""},
		"IPv6":                           {"POST", "[::1]:4711", "[::1]:2280", nil, ""},
		"IPv6 without a port":            {"POST", "[::1]:4711", "[::1]", nil, ""},
		"mapped":                         {"POST", "[::ffff:127.0.0.1]:4711", "localhost", nil, ""},
		"name below localhost, root dot": {"POST", local, "API.LocalHost.:80", nil, ""},
		"foreign credentials":            {"POST", local, "localhost", h{"Authorization": {"Bearer x"}}, ""},
		"remote":                         {"GET", "192.0.2.1:4711", "localhost", nil, "auth_mode_none"},
		"remote IPv6":                    {"GET", "[2001:db8::1]:4711", "localhost", nil, "auth_mode_none"},
		"no peer":                        {"GET", "", "localhost", nil, "auth_mode_none"},
		"unix socket":                    {"GET", "@", "localhost", nil, "auth_mode_none"},
		"rebound name":                   {"GET", local, "evil.example:2280", nil, "auth_mode_none"},
		"name that looks like localhost": {"GET", local, "localhost.evil.example", nil, "auth_mode_none"},
		"name ending in it":              {"GET", local, "evil-localhost", nil, "auth_mode_none"},
		"no host":                        {"GET", local, "", nil, "auth_mode_none"},
		"unspecified address":            {"GET", local, "0.0.0.0:2280", nil, "auth_mode_none"},
		"own address":                    {"GET", local, "192.0.2.1:2280", nil, "auth_mode_none"},
		"Forwarded":                      {"GET", local, "localhost", h{"Forwarded": {"for=127.0.0.1"}}, "auth_mode_none"},
		"X-Forwarded-For":                {"GET", local, "localhost", h{"X-Forwarded-For": {"127.0.0.1"}}, "auth_mode_none"},
		"X-Forwarded-Proto, empty":       {"GET", local, "localhost", h{"X-Forwarded-Proto": {""}}, "auth_mode_none"},
		"X-Real-IP":                      {"GET", local, "localhost", h{"X-Real-Ip": {"127.0.0.1"}}, "auth_mode_none"},
		"Via":                            {"GET", local, "localhost", h{"Via": {"1.1 proxy"}}, "auth_mode_none"},
		"page of another origin":         {"POST", local, "localhost:2280", h{"Origin": {"https://evil.example"}}, "cross_origin"},
		"page of another site":           {"POST", local, "localhost:2280", h{"Sec-Fetch-Site": {"cross-site"}}, "cross_origin"},
		"page of another port":           {"POST", local, "localhost:2280", h{"Sec-Fetch-Site": {"same-site"}, "Origin": {"http://localhost:3000"}}, "cross_origin"},
		"sandboxed page":                 {"POST", local, "localhost:2280", h{"Origin": {"null"}}, "cross_origin"},
		"own page":                       {"POST", local, "localhost:2280", h{"Sec-Fetch-Site": {"same-origin"}, "Origin": {"http://localhost:2280"}}, ""},
		"trusted page":                   {"POST", local, "localhost:2280", h{"Sec-Fetch-Site": {"cross-site"}, "Origin": {"https://ui.example.com"}}, ""},
		"WebSocket of another site":      {"GET", local, "localhost:2280", h{"Upgrade": {"websocket"}, "Origin": {"https://evil.example"}}, "cross_origin"},
		"WebSocket of the own page":      {"GET", local, "localhost:2280", h{"Upgrade": {"websocket"}, "Origin": {"http://localhost:2280"}}, ""},
		"WebSocket of a program":         {"GET", local, "localhost:2280", h{"Upgrade": {"websocket"}}, ""},
		"safe method, of another site":   {"GET", local, "localhost:2280", h{"Sec-Fetch-Site": {"cross-site"}}, ""},
		"read by another origin":         {"GET", local, "localhost:2280", h{"Origin": {"https://evil.example"}}, "cross_origin"},
		"read by a script elsewhere":     {"GET", local, "localhost:2280", h{"Origin": {"https://evil.example"}, "Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"cors"}}, "cross_origin"},
		"head by another origin":         {"HEAD", local, "localhost:2280", h{"Origin": {"null"}}, "cross_origin"},
		"options by another origin":      {"OPTIONS", local, "localhost:2280", h{"Origin": {"https://evil.example"}}, "cross_origin"},
		"embedded by another site":       {"GET", local, "localhost:2280", h{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"no-cors"}}, "cross_origin"},
		"a link from another site":       {"GET", local, "localhost:2280", h{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"navigate"}}, ""},
		"a window of another site":       {"GET", local, "localhost:2280", h{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {"document"}}, ""},
		"a frame of another site":        {"GET", local, "localhost:2280", h{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {"iframe"}}, "cross_origin"},
		"an old frame of another site":   {"GET", local, "localhost:2280", h{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {"frame"}}, "cross_origin"},
		"an object of another site":      {"GET", local, "localhost:2280", h{"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {"object"}}, "cross_origin"},
		"embedded by another port":       {"GET", local, "localhost:2280", h{"Sec-Fetch-Site": {"same-site"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {"embed"}}, "cross_origin"},
		"a frame of the own page":        {"GET", local, "localhost:2280", h{"Sec-Fetch-Site": {"same-origin"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {"iframe"}}, ""},
		"read by the own page":           {"GET", local, "localhost:2280", h{"Origin": {"http://localhost:2280"}, "Sec-Fetch-Site": {"same-origin"}, "Sec-Fetch-Mode": {"cors"}}, ""},
		"read by a trusted page":         {"GET", local, "localhost:2280", h{"Origin": {"https://ui.example.com"}, "Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"cors"}}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(tt.method, "/runs/stream", nil)
			r.RemoteAddr, r.Host = tt.peer, tt.host
			if tt.header != nil {
				r.Header = tt.header
			}
			chain := identity.Chain{none}
			p, err := chain.Authenticate(r)
			if (err == nil) != (tt.code == "") {
				t.Fatalf("got %+v, %v", p, err)
			}
			if err == nil {
				if p.Role != policy.Admin || p.Source != policy.SourceNone || !strings.HasPrefix(p.User, "os:") || p.Address == "" {
					t.Errorf("got %+v", p)
				}
				return
			}
			got := chain.Problem(err)
			if got.Status != 403 || got.Code != tt.code || !strings.Contains(got.Detail, "auth.mode") || p.User != "" {
				t.Errorf("got %+v, want 403 with code %s naming auth.mode", got, tt.code)
			}
			if c := chain.Challenges(err); c != nil {
				t.Errorf("got challenges %q on 403", c)
			}
		})
	}
}

func TestNoneProviderOrigins(t *testing.T) {
	for _, o := range []string{"example.com", "*", "https://example.com/path", ""} {
		if _, err := identity.NewNoneProvider(o); err == nil {
			t.Errorf("got no error for origin %q", o)
		}
	}
}

// With both modes a token decides who a local client is, and a remote one is asked for a token.
func TestTokenAndNone(t *testing.T) {
	rig := newRig(t)
	token := rig.addUser(t, identity.AddUser{Name: "bob", Role: policy.Readonly})
	none, err := identity.NewNoneProvider()
	if err != nil {
		t.Fatal(err)
	}
	chain := identity.Chain{identity.NewTokenProvider(rig.Service), none}
	for name, tt := range map[string]struct {
		peer, authorization string
		role                policy.Role
		status              int
	}{
		"local":                  {"127.0.0.1:1", "", policy.Admin, 0},
		"local with a token":     {"127.0.0.1:1", "Bearer " + token, policy.Readonly, 0},
		"local with a bad token": {"127.0.0.1:1", "Bearer svc_x", "", 401},
		"remote":                 {"192.0.2.1:1", "", "", 401},
		"remote with a token":    {"192.0.2.1:1", "Bearer " + token, policy.Readonly, 0},
		"remote with another's":  {"192.0.2.1:1", "Bearer x", "", 401},
	} {
		r := httptest.NewRequest("POST", "/", nil)
		r.RemoteAddr, r.Host = tt.peer, "localhost"
		if tt.authorization != "" {
			r.Header.Set("Authorization", tt.authorization)
		}
		p, err := chain.Authenticate(r)
		if p.Role != tt.role || (err != nil) != (tt.status != 0) || err != nil && chain.Problem(err).Status != tt.status {
			t.Errorf("%s: got %+v, %v", name, p, err)
		}
	}
}
