package auth_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/svc-gateway/svc/caddymodule/auth/caddytest"
	"github.com/svc-gateway/svc/policy/identity"
)

const (
	accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	form   = "application/x-www-form-urlencoded"
)

// login logs in with a token as the page does, and returns the cookie.
func login(t *testing.T, srv *caddytest.Server, prefix, token string, header ...string) *http.Cookie {
	t.Helper()
	r := srv.Request(http.MethodPost, prefix+"/login", url.Values{"token": {token}}.Encode(), append(header, "Content-Type", form)...)
	resp, body := srv.Send(r)
	if resp.StatusCode != http.StatusSeeOther || len(resp.Cookies()) != 1 {
		t.Fatalf("logging in: got %s %v %s", resp.Status, resp.Header, body)
	}
	return resp.Cookies()[0]
}

// TestToLogin holds who is sent to the login page and who is answered.
func TestToLogin(t *testing.T) {
	up := upstream(t)
	srv := caddytest.Start(t, caddytest.Config{
		Svc:  "cors {\norigins https://ui.example\n}",
		Site: "handle_path /v1/* {\nsvc_auth\nreverse_proxy " + up.URL + "\n}\nhandle {\nsvc_auth\nreverse_proxy " + up.URL + "\n}",
	})
	ended := login(t, srv, "/auth", srv.Token)
	srv.Send(srv.Request(http.MethodPost, "/auth/logout", "", "Cookie", "svc_token="+ended.Value))
	for _, tt := range []struct {
		name, method, path string
		header             []string
		location           string // empty: 401
	}{
		{"a browser", "GET", "/a%20b?c=d&e", []string{"Accept", accept, "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, "/auth/login?next=%2Fa%2520b%3Fc%3Dd%26e"},
		{"an old browser", "GET", "/", []string{"Accept", accept}, "/auth/login?next=%2F"},
		{"below a path that is taken off", "GET", "/v1/x", []string{"Accept", accept}, "/v1/auth/login?next=%2Fv1%2Fx"},
		{"with an ended session", "GET", "/", []string{"Accept", accept, "Cookie", "svc_token=" + ended.Value}, "/auth/login?next=%2F"},
		{"our own page", "GET", "/auth/account", []string{"Accept", accept}, "/auth/login?next=%2Fauth%2Faccount"},
		{"curl", "GET", "/", []string{"Accept", "*/*"}, ""},
		{"a form", "POST", "/", []string{"Accept", accept}, ""},
		{"a script", "GET", "/", []string{"Accept", accept, "Sec-Fetch-Mode", "cors"}, ""},
		{"a frame", "GET", "/", []string{"Accept", accept, "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}, ""},
		{"a bad token", "GET", "/", []string{"Accept", accept, "Authorization", "Bearer svc_x"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			resp, body := srv.Send(srv.Request(tt.method, tt.path, "", tt.header...))
			want := http.StatusUnauthorized
			if tt.location != "" {
				want = http.StatusSeeOther
			}
			if resp.StatusCode != want || resp.Header.Get("Location") != tt.location || (tt.location == "") != (resp.Header.Get("WWW-Authenticate") != "") {
				t.Errorf("got %s to %q, want %d to %q: %s", resp.Status, resp.Header.Get("Location"), want, tt.location, body)
			}
		})
	}
	resp, body := srv.Send(srv.Request(http.MethodGet, "//evil.example/x", "", "Accept", accept))
	if at := resp.Header.Get("Location"); resp.StatusCode != http.StatusSeeOther || !strings.HasPrefix(at, "/auth/login?") {
		t.Errorf("got %s to %q: %s", resp.Status, at, body)
	}
}

// TestSecureCookie holds whose word counts for a connection being secure.
func TestSecureCookie(t *testing.T) {
	for _, tt := range []struct {
		name, global string
		proto        []string
		want         bool
	}{
		{"plain", "", nil, false},
		{"whoever says so", "", []string{"X-Forwarded-Proto", "https"}, false},
		{"a trusted proxy", "servers {\ntrusted_proxies static 127.0.0.1/32\n}", []string{"X-Forwarded-Proto", "https"}, true},
		{"several trusted proxies", "servers {\ntrusted_proxies static 127.0.0.1/32\n}", []string{"X-Forwarded-Proto", "HTTPS, http"}, true},
		{"a trusted proxy without TLS", "servers {\ntrusted_proxies static 127.0.0.1/32\n}", []string{"X-Forwarded-Proto", "http"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := caddytest.Start(t, caddytest.Config{Site: "svc_auth", Global: tt.global, Svc: "auth {\nmode token\nsession_ttl_hours 2\n}"})
			c := login(t, srv, "/auth", srv.Token, tt.proto...)
			if c.Secure != tt.want || c.MaxAge != 2*60*60 || c.Name != identity.SessionCookie || c.SameSite != http.SameSiteStrictMode || !c.HttpOnly || c.Path != "/" {
				t.Errorf("got the cookie %q", c.Raw)
			}
		})
	}
}

// A role that is too weak for a site keeps nobody from the own sessions, and the cookie does not
// go on to others.
func TestSessionBehindRequire(t *testing.T) {
	up := upstream(t)
	srv := caddytest.Start(t, caddytest.Config{Site: "svc_auth {\nprefix /-/id\nrequire admin\n}\nreverse_proxy " + up.URL})
	alice := login(t, srv, "/-/id", srv.AddUser("alice", "user", time.Time{}))
	cookie := []string{"Cookie", "a=b; svc_token=" + alice.Value}
	resp, body := srv.Send(srv.Request(http.MethodGet, "/", "", append(cookie, "Accept", accept)...))
	if resp.StatusCode != http.StatusForbidden || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") || !strings.Contains(body, `href="/-/id/account"`) {
		t.Errorf("what is required: got %s %v %s", resp.Status, resp.Header, body)
	}
	if resp, body := srv.Send(srv.Request(http.MethodGet, "/-/id/sessions", "", cookie...)); resp.StatusCode != http.StatusOK {
		t.Errorf("the own sessions: got %s %s", resp.Status, body)
	}
	boss := login(t, srv, "/-/id", srv.Token)
	resp, body = srv.Send(srv.Request(http.MethodGet, "/", "", "Cookie", "a=b; svc_token="+boss.Value))
	if h := seen(t, body); resp.StatusCode != http.StatusOK || h.Get("Cookie") != "a=b" {
		t.Errorf("what the upstream is sent: got %s %v", resp.Status, h)
	}
}

// A page of a named origin may read what it may do; where anybody may read, nobody may with
// somebody else's session.
func TestCredentialsAcrossOrigins(t *testing.T) {
	for origins, want := range map[string]string{
		"https://ui.example":                   "true",
		"*":                                    "",
		"https://*.example https://ui.example": "",
	} {
		t.Run(origins, func(t *testing.T) {
			srv := caddytest.Start(t, caddytest.Config{Site: "svc_auth", Svc: "cors {\norigins " + origins + "\n}"})
			resp, _ := srv.Send(srv.Request(http.MethodGet, "/auth/whoami", "", "Origin", "https://ui.example"))
			if got := resp.Header.Get("Access-Control-Allow-Credentials"); got != want || resp.Header.Get("Access-Control-Allow-Origin") == "" {
				t.Errorf("got Access-Control-Allow-Credentials %q, want %q: %v", got, want, resp.Header)
			}
		})
	}
}
