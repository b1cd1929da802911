package auth_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/caddymodule/auth/caddytest"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/policy"
)

// upstream is a foreign server that answers with what it was sent.
func upstream(t testing.TB) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("X-Request-Id", "forged")
		if r.URL.Path == "/hang up" {
			panic(http.ErrAbortHandler)
		}
		json.NewEncoder(w).Encode(r.Header)
	}))
	t.Cleanup(srv.Close)
	return srv
}

// seen parses the headers that the upstream was sent.
func seen(t *testing.T, body string) http.Header {
	t.Helper()
	var h http.Header
	if err := json.Unmarshal([]byte(body), &h); err != nil {
		t.Fatalf("the upstream did not answer: %v: %s", err, body)
	}
	return h
}

func TestRefusals(t *testing.T) {
	up := upstream(t)
	srv := caddytest.Start(t, caddytest.Config{Site: "svc_auth\nreverse_proxy " + up.URL})
	mangled := srv.Token[:len(srv.Token)-1] + map[bool]string{true: "1", false: "0"}[strings.HasSuffix(srv.Token, "0")]
	for _, tt := range []struct {
		name, path string
		header     []string
		code       string
	}{
		{"none", "/", nil, "credentials_missing"},
		{"mangled", "/", []string{"Authorization", "Bearer " + mangled}, "token_malformed"},
		{"cut off", "/", []string{"Authorization", "Bearer svc_abc"}, "token_malformed"},
		{"of somebody else", "/", []string{"Authorization", "Bearer sk-123"}, "credentials_unrecognised"},
		{"another scheme", "/", []string{"Authorization", "Basic YTpi"}, "credentials_unrecognised"},
		{"in the query string", "/?token=" + srv.Token, nil, "credentials_missing"},
		{"in the query string, as an api key", "/?api_key=" + srv.Token, nil, "credentials_missing"},
		{"in a cookie", "/", []string{"Cookie", "token=" + srv.Token}, "credentials_missing"},
		{"health is not a prefix", "/health/", nil, "credentials_missing"},
		{"whoami needs a principal", "/auth/whoami", nil, "credentials_missing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			resp, body := srv.Send(srv.Request(http.MethodGet, tt.path, "", tt.header...))
			resp.Body = io.NopCloser(strings.NewReader(body))
			p := problem.Parse(resp)
			if resp.StatusCode != http.StatusUnauthorized || p.Code != tt.code {
				t.Errorf("got %s %q, want 401 %q: %s", resp.Status, p.Code, tt.code, body)
			}
			if !strings.HasPrefix(resp.Header.Get("WWW-Authenticate"), "Bearer") {
				t.Errorf("WWW-Authenticate is %q", resp.Header.Get("WWW-Authenticate"))
			}
			if p.RequestID == "" || p.RequestID != resp.Header.Get("X-Request-Id") {
				t.Errorf("request id: got %q in the body, %q in the header", p.RequestID, resp.Header.Get("X-Request-Id"))
			}
			if strings.Contains(body, "svc_") && strings.Contains(body, srv.Token[4:]) {
				t.Errorf("the answer repeats a token: %s", body)
			}
		})
	}
}

func TestAccounting(t *testing.T) {
	up := upstream(t)
	srv := caddytest.Start(t, caddytest.Config{Site: "svc_auth\n@err path /broken\nerror @err 418\nhandle_path /v1/* {\nreverse_proxy " + up.URL + "\n}\nreverse_proxy " + up.URL})
	srv.Do(http.MethodGet, "/v1/x?secret=1", "")
	srv.Send(srv.Request(http.MethodPost, "/y", "{}"))
	srv.Send(srv.Request(http.MethodGet, "/health", ""))
	srv.Send(srv.Request(http.MethodPost, "/health", ""))
	srv.Do(http.MethodGet, "/broken", "")
	srv.Do(http.MethodGet, "/auth/whoami", "")
	want := []string{
		"GET /v1/x 200 admin admin 127.0.0.1 ",
		`POST /y 401   127.0.0.1 ["credentials_missing"]`,
		`POST /health 401   127.0.0.1 ["credentials_missing"]`,
		"GET /broken 418 admin admin 127.0.0.1 ",
		"GET /auth/whoami 200 admin admin 127.0.0.1 ",
	}
	query := "select method, path, code, coalesce(user, ''), coalesce(role, ''), address, coalesce(reasons, '') from audit_events where type = 'request' order by seq"
	var got []string
	srv.Eventually("the records are written", func() bool {
		got = srv.Audit(query)
		return len(got) >= len(want)
	})
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("records (-want +got):\n%s", d)
	}
}

func TestTowardsTheUpstream(t *testing.T) {
	up := upstream(t)
	for _, tt := range []struct {
		name, options string
		header        []string
		want          map[string]string // "" means absent
	}{
		{
			"spoofed identity", "",
			[]string{"Remote-User", "root", "remote-role", "admin", "X-Svc-User", "root", "Remote-Email", "r@x"},
			map[string]string{"Remote-User": "", "Remote-Role": "", "X-Svc-User": "", "Remote-Email": ""},
		},
		{
			"identity headers", "identity_headers",
			[]string{"Remote-User", "root", "Remote-Groups", "wheel"},
			map[string]string{"Remote-User": "admin", "Remote-Role": "admin", "Remote-Groups": ""},
		},
		{
			"own names", "identity_headers {\nuser X-User\nrole off\n}",
			[]string{"X-User", "root"},
			map[string]string{"X-User": "admin", "Remote-Role": ""},
		},
		{
			"made to vanish by Connection", "identity_headers",
			[]string{"Connection", "Remote-User, close, remote_role"},
			map[string]string{"Remote-User": "admin", "Remote-Role": "admin"},
		},
		{
			"credentials of ours and of others", "",
			[]string{"X-Api-Key", "sk-foreign", "Cookie", "a=1; svc_token=x; b=2"},
			map[string]string{"Authorization": "", "X-Api-Key": "sk-foreign", "Cookie": "a=1; b=2"},
		},
		{
			"only our cookie", "",
			[]string{"Cookie", "svc_token=x"},
			map[string]string{"Cookie": ""},
		},
		{
			"a cookie that only looks like ours", "",
			[]string{"Cookie", "my_svc_token=x"},
			map[string]string{"Cookie": "my_svc_token=x"},
		},
		{
			"request id of a client", "",
			[]string{"X-Request-Id", "12345678"},
			map[string]string{"X-Request-Id": "*"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := caddytest.Start(t, caddytest.Config{Site: "svc_auth {\n" + tt.options + "\n}\nreverse_proxy " + up.URL})
			resp, body := srv.Do(http.MethodGet, "/", "", tt.header...)
			got := seen(t, body)
			for name, want := range tt.want {
				if want == "*" {
					if v := got.Get(name); v == "" || v == "12345678" || v != resp.Header.Get(name) {
						t.Errorf("%s: got %q, the client has %q", name, v, resp.Header.Get(name))
					}
				} else if v := got.Get(name); v != want {
					t.Errorf("%s: got %q, want %q", name, v, want)
				}
			}
			if v := resp.Header.Values("X-Request-Id"); len(v) != 1 || v[0] == "forged" {
				t.Errorf("X-Request-Id: got %q", v)
			}
		})
	}
}

func TestPassCredentials(t *testing.T) {
	up := upstream(t)
	srv := caddytest.Start(t, caddytest.Config{Site: "svc_auth {\npass_credentials\n}\nreverse_proxy " + up.URL})
	_, body := srv.Do(http.MethodGet, "/", "", "Cookie", "svc_token=x")
	got := seen(t, body)
	if got.Get("Authorization") != "Bearer "+srv.Token || got.Get("Cookie") != "svc_token=x" {
		t.Errorf("got %q", got)
	}
}

func TestAPIKey(t *testing.T) {
	up := upstream(t)
	srv := caddytest.Start(t, caddytest.Config{Site: "svc_auth\nreverse_proxy " + up.URL})
	_, body := srv.Send(srv.Request(http.MethodGet, "/", "", "x-api-key", srv.Token))
	if got := seen(t, body); got.Get("X-Api-Key") != "" {
		t.Errorf("our token reached the upstream: %q", got.Get("X-Api-Key"))
	}
}

func TestUnderscoreSpellings(t *testing.T) {
	up := upstream(t)
	srv := caddytest.Start(t, caddytest.Config{Site: "svc_auth\nreverse_proxy " + up.URL})
	_, body := srv.Do(http.MethodGet, "/", "", "Remote_User", "root", "X.Svc.Role", "admin", "x_svc_user", "root")
	for name := range seen(t, body) {
		if strings.HasPrefix(strings.ToLower(name), "remote") || strings.HasPrefix(strings.ToLower(name), "x_svc") || strings.Contains(name, ".") {
			t.Errorf("the upstream was sent %s", name)
		}
	}
}

func TestHealthIsOpen(t *testing.T) {
	up := upstream(t)
	srv := caddytest.Start(t, caddytest.Config{Site: "svc_auth\nreverse_proxy " + up.URL})
	resp, body := srv.Send(srv.Request(http.MethodGet, "/health", "", "Authorization", "Bearer "+srv.Token, "Remote-User", "root"))
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("got %s", resp.Status)
	}
	if h := seen(t, body); h.Get("Authorization") != "" || h.Get("Remote-User") != "" {
		t.Errorf("the upstream was sent %q", h)
	}
}

func TestRequire(t *testing.T) {
	up := upstream(t)
	srv := caddytest.Start(t, caddytest.Config{Site: "svc_auth {\nrequire admin\n}\nreverse_proxy " + up.URL})
	if resp, _ := srv.Do(http.MethodGet, "/", ""); resp.StatusCode != http.StatusOK {
		t.Errorf("an admin got %s", resp.Status)
	}
	srv.Token = srv.AddUser("ursula", policy.User, time.Time{})
	resp, body := srv.Do(http.MethodGet, "/", "")
	if resp.StatusCode != http.StatusForbidden || !strings.Contains(body, `"code":"role_insufficient"`) {
		t.Errorf("a user got %s %s", resp.Status, body)
	}
}

func TestWhoami(t *testing.T) {
	srv := caddytest.Start(t, caddytest.Config{Site: "svc_auth {\nprefix /me\n}\nrespond {http.auth.user.id}:{http.auth.user.role}"})
	resp, body := srv.Do(http.MethodGet, "/me/whoami", "")
	var p policy.Principal
	if err := json.Unmarshal([]byte(body), &p); err != nil {
		t.Fatal(err)
	}
	if p.User != "admin" || p.Role != policy.Admin || p.Source != policy.SourceToken || p.TokenID == "" || p.Address != "127.0.0.1" {
		t.Errorf("got %+v", p)
	}
	if resp.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("Cache-Control is %q", resp.Header.Get("Cache-Control"))
	}
	if resp, _ := srv.Do(http.MethodPost, "/me/whoami", ""); resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST got %s", resp.Status)
	}
	if _, body := srv.Do(http.MethodGet, "/auth/whoami", ""); body != "admin:admin" {
		t.Errorf("another path got %q", body)
	}
}

func TestNone(t *testing.T) {
	srv := caddytest.Start(t, caddytest.Config{Svc: "auth {\nmode none\n}", Site: "svc_auth\nrespond {http.auth.user.id}"})
	if _, body := srv.Send(srv.Request(http.MethodGet, "/", "")); !strings.HasPrefix(body, "os:") {
		t.Errorf("got %q, want the user of the operating system", body)
	}
	for _, header := range [][]string{
		{"X-Forwarded-For", "1.2.3.4"},
		{"Host", "evil.example"},
		{"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"},
	} {
		r := srv.Request(http.MethodPost, "/", "{}", header...)
		if header[0] == "Host" {
			r.Host = header[1]
			r.Header.Del("Host")
		}
		resp, body := srv.Send(r)
		if header[0] == "Host" {
			if resp.StatusCode == http.StatusOK && strings.HasPrefix(body, "os:") {
				t.Errorf("%v got %s %s", header, resp.Status, body)
			}
			continue
		}
		if resp.StatusCode != http.StatusForbidden || !strings.Contains(body, "auth.mode") {
			t.Errorf("%v got %s %s", header, resp.Status, body)
		}
	}
}

func TestCORS(t *testing.T) {
	up := upstream(t)
	srv := caddytest.Start(t, caddytest.Config{
		Svc:  "auth {\nmode token\n}\ncors {\norigins https://chat.example\n}",
		Site: "svc_auth\nreverse_proxy " + up.URL,
	})
	const good, bad = "https://chat.example", "https://evil.example"
	preflight := []string{"Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization,content-type"}
	resp, _ := srv.Send(srv.Request(http.MethodOptions, "/runs/stream", "", append(preflight, "Origin", good)...))
	if resp.StatusCode != http.StatusNoContent || resp.Header.Get("Access-Control-Allow-Origin") != good ||
		!strings.Contains(resp.Header.Get("Access-Control-Allow-Headers"), "authorization") {
		t.Errorf("preflight: got %s %v", resp.Status, resp.Header)
	}
	resp, _ = srv.Send(srv.Request(http.MethodOptions, "/runs/stream", "", append(preflight, "Origin", bad)...))
	if v := resp.Header.Get("Access-Control-Allow-Origin"); v != "" {
		t.Errorf("preflight of another origin: got %q", v)
	}
	for _, tt := range []struct{ name, origin, token, want string }{
		{"answer", good, srv.Token, good},
		{"error", good, "", good},
		{"answer to another origin", bad, srv.Token, ""},
	} {
		srv.Token = tt.token
		resp, _ := srv.Do(http.MethodGet, "/", "", "Origin", tt.origin)
		got := strings.Join(resp.Header.Values("Access-Control-Allow-Origin"), "|")
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
		if tt.want != "" && !strings.Contains(resp.Header.Get("Access-Control-Expose-Headers"), "X-Pagination-Total") {
			t.Errorf("%s: exposed are %q", tt.name, resp.Header.Get("Access-Control-Expose-Headers"))
		}
	}
}

// A page of another origin may read what the upstream exposes, and what we do.
func TestExposedHeaders(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Add("Access-Control-Expose-Headers", "Mcp-Session-Id,x-request-id")
		w.Header().Add("Access-Control-Expose-Headers", "X-Own, ,mcp-session-id")
		w.Header().Set("Access-Control-Allow-Credentials", "true")
	}))
	t.Cleanup(up.Close)
	srv := caddytest.Start(t, caddytest.Config{
		Svc: "auth {\nmode token\n}\ncors {\norigins https://*.example\n}", Site: "svc_auth\nreverse_proxy " + up.URL,
	})
	for origin, want := range map[string]string{
		"https://chat.example": "Content-Location, Location, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, WWW-Authenticate, X-Ignored-Fields, X-Pagination-Next, X-Pagination-Total, X-Request-Id, Mcp-Session-Id, X-Own",
		"https://chat.evil":    "",
	} {
		resp, _ := srv.Do(http.MethodGet, "/", "", "Origin", origin)
		if got := strings.Join(resp.Header.Values("Access-Control-Expose-Headers"), "|"); !strings.EqualFold(got, want) {
			t.Errorf("%s: got %q, want %q", origin, got, want)
		}
		if got := resp.Header.Get("Access-Control-Allow-Credentials"); got != "" {
			t.Errorf("%s: with credentials %q", origin, got)
		}
	}
}

func TestAccessLogHasTheUser(t *testing.T) {
	log := filepath.Join(t.TempDir(), "access.log")
	srv := caddytest.Start(t, caddytest.Config{Site: "log {\noutput file " + log + "\n}\nsvc_auth\nrespond hello"})
	srv.Do(http.MethodGet, "/", "")
	srv.Eventually("the access log has the user", func() bool {
		text, _ := os.ReadFile(log)
		return strings.Contains(string(text), `"user_id":"admin"`)
	})
}

func TestCaddysOwnAuthentication(t *testing.T) {
	up := upstream(t)
	srv := caddytest.Start(t, caddytest.Config{Site: "svc_auth\nreverse_proxy " + up.URL})
	srv.LoadJSON(func(doc map[string]any) {
		route := map[string]any{"handle": []any{
			map[string]any{"handler": "authentication", "providers": map[string]any{"svc": map[string]any{}}},
			map[string]any{"handler": "static_response", "body": "{http.auth.user.id}:{http.auth.user.role}"},
		}}
		servers := doc["apps"].(map[string]any)["http"].(map[string]any)["servers"].(map[string]any)
		servers["srv0"].(map[string]any)["routes"] = []any{route}
	})
	if _, body := srv.Do(http.MethodGet, "/", ""); body != "admin:admin" {
		t.Errorf("got %q", body)
	}
	resp, _ := srv.Send(srv.Request(http.MethodGet, "/", ""))
	if resp.StatusCode != http.StatusUnauthorized || resp.Header.Get("WWW-Authenticate") == "" {
		t.Errorf("without a token: got %s %v", resp.Status, resp.Header)
	}
}

func TestRequireMoreForAPart(t *testing.T) {
	up := upstream(t)
	srv := caddytest.Start(t, caddytest.Config{Site: "svc_auth\nhandle /admin/* {\nsvc_auth {\nrequire admin\nidentity_headers\n}\nreverse_proxy " + up.URL + "\n}\nreverse_proxy " + up.URL})
	_, body := srv.Do(http.MethodGet, "/admin/x", "", "Remote-User", "root")
	if got := seen(t, body).Get("Remote-User"); got != "admin" {
		t.Errorf("Remote-User is %q", got)
	}
	srv.Token = srv.AddUser("ursula", policy.User, time.Time{})
	for path, want := range map[string]int{"/x": http.StatusOK, "/admin/x": http.StatusForbidden} {
		if resp, body := srv.Do(http.MethodGet, path, ""); resp.StatusCode != want {
			t.Errorf("%s: got %s %s, want %d", path, resp.Status, body, want)
		}
	}
	query := "select path, code from audit_events where type = 'request' and user = 'ursula'"
	srv.Eventually("each request has one record", func() bool { return len(srv.Audit(query)) == 2 })
}

func TestTrustedProxy(t *testing.T) {
	up := upstream(t)
	srv := caddytest.Start(t, caddytest.Config{
		Global: "servers {\ntrusted_proxies static 127.0.0.1/32\n}", Site: "svc_auth\nreverse_proxy " + up.URL,
	})
	const id = "0f8fad5b-d9cb-469f-a165-70867728950e"
	resp, body := srv.Do(http.MethodGet, "/", "", "X-Forwarded-For", "198.51.100.7", "X-Request-Id", id)
	if got := seen(t, body).Get("X-Request-Id"); got != id || resp.Header.Get("X-Request-Id") != id {
		t.Errorf("the id became %q", got)
	}
	srv.Eventually("the record has the client's address", func() bool {
		got := srv.Audit("select address from audit_events where type = 'request'")
		return len(got) == 1 && got[0] == "198.51.100.7"
	})
}

// Where clients can make up their address, the log says so, once.
func TestMadeUpAddressesAreDoubted(t *testing.T) {
	for name, tt := range map[string]struct {
		options, forwarded string
		want               int
	}{
		"several addresses": {"trusted_proxies static 127.0.0.1/32", "192.0.2.1, 198.51.100.7", 1},
		"one":               {"trusted_proxies static 127.0.0.1/32", "198.51.100.7", 0},
		"strict":            {"trusted_proxies static 127.0.0.1/32\ntrusted_proxies_strict", "192.0.2.1, 198.51.100.7", 0},
		"no trusted proxy":  {"trusted_proxies static 192.0.2.9/32", "192.0.2.1, 198.51.100.7", 0},
	} {
		t.Run(name, func(t *testing.T) {
			log := filepath.Join(t.TempDir(), "caddy.log")
			srv := caddytest.Start(t, caddytest.Config{Global: "servers {\n" + tt.options + "\n}", Site: "svc_auth\nrespond ok", Log: log})
			for range 3 {
				srv.Do(http.MethodGet, "/", "", "X-Forwarded-For", tt.forwarded)
			}
			text, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Count(string(text), "clients can make up their address"); got != tt.want {
				t.Errorf("got %d warnings, want %d", got, tt.want)
			}
		})
	}
}
