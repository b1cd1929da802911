package web_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

// active is what a page must not hold: scripts, handlers, styles of an element, things loaded.
var active = regexp.MustCompile(`(?i)<script|<iframe|<img|<object|<base|javascript:|\son[a-z]+=|\sstyle=|(src|href|action)="(https?:)?//`)

func TestPages(t *testing.T) {
	r := newRig(t, withDirectory(&directory{}), withProvider)
	boss := r.addUser(identity.AddUser{Name: "boss", Role: policy.Admin})
	bearer := "Authorization: Bearer " + boss
	r.login(url.Values{"token": {boss}}, `User-Agent: "><script src=//evil.example>`)
	for _, tt := range []struct {
		name, method, path, form string
		header                   []string
		status                   int
	}{
		{"login", "GET", "/auth/login?next=%22%3E%3Cscript%3E&x=%3Cscript%3E", "", nil, 200},
		{"login failed", "POST", "/auth/login", "user=%22%3E%3Cscript%3E&password=x", nil, 401},
		{"from another site", "GET", "/auth/login?next=%22%3E%3Cscript%3E", "", []string{"Sec-Fetch-Site: cross-site"}, 200},
		{"account", "GET", "/auth/account", "", []string{bearer}, 200},
		{"forbidden", "POST", "/auth/login", "token=x", []string{"Origin: https://evil.example"}, 403},
		{"entered", "GET", "/auth/oidc/corp/callback?next=%22%3E%3Cscript%3E", "", nil, 200},
		{"not entered", "GET", "/auth/oidc/%3Cscript%3E", "", nil, 403},
		{"no credential", "DELETE", "/auth/sessions/%3Cscript%3E", "", nil, 401},
	} {
		t.Run(tt.name, func(t *testing.T) {
			header := append(tt.header, page)
			if tt.form != "" {
				header = append(header, asForm)
			}
			resp, body := r.do(tt.method, tt.path, tt.form, header...)
			if resp.StatusCode != tt.status {
				t.Fatalf("got %s %s", resp.Status, body)
			}
			if found := active.FindString(body); found != "" {
				t.Errorf("the page holds %q: %s", found, body)
			}
			got := map[string]string{}
			for _, name := range []string{"Cache-Control", "Content-Type", "X-Content-Type-Options", "X-Frame-Options", "Referrer-Policy", "Cross-Origin-Opener-Policy"} {
				got[name] = resp.Header.Get(name)
			}
			want := map[string]string{
				"Cache-Control": "no-store", "Content-Type": "text/html; charset=utf-8", "X-Content-Type-Options": "nosniff",
				"X-Frame-Options": "DENY", "Referrer-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
			}
			if tt.name == "entered" {
				want["Referrer-Policy"] = "no-referrer"
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("header (-want +got):\n%s", d)
			}
			csp := resp.Header.Get("Content-Security-Policy")
			if !regexp.MustCompile(`^default-src 'none'; img-src data:; style-src 'sha256-[A-Za-z0-9+/=]{44}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$`).MatchString(csp) {
				t.Errorf("Content-Security-Policy is %q", csp)
			}
		})
	}
}

// A person gets a page, a program a problem.
func TestWhoGetsAPage(t *testing.T) {
	r := newRig(t)
	for _, tt := range []struct {
		name   string
		header []string
		want   bool
	}{
		{"a browser", []string{page, "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"}, true},
		{"an old browser", []string{page}, true},
		{"curl", []string{"Accept: */*"}, false},
		{"nothing", nil, false},
		{"a script", []string{page, "Sec-Fetch-Mode: cors", "Sec-Fetch-Dest: empty"}, false},
		{"a frame", []string{page, "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe"}, false},
	} {
		resp, body := r.do(http.MethodDelete, "/auth/sessions", "", tt.header...)
		if got := strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html"); got != tt.want {
			t.Errorf("%s: got %s %s", tt.name, resp.Header.Get("Content-Type"), body)
		}
	}
}

// Two cookies of our name are no session, and the page says what to do.
func TestTwoCookies(t *testing.T) {
	r := newRig(t)
	token := r.addUser(identity.AddUser{Name: "alice"})
	cookie := r.login(url.Values{"token": {token}})
	both := cookie + "; svc_token=" + token
	for _, header := range [][]string{{both}, {cookie, "Cookie: svc_token=" + token}} {
		resp, body := r.do(http.MethodGet, "/auth/whoami", "", header...)
		if resp.StatusCode != http.StatusUnauthorized || code(resp, body) != "credentials_conflict" {
			t.Errorf("got %s %s", resp.Status, body)
		}
	}
	if _, body := r.do(http.MethodGet, "/auth/login", "", page, both); !strings.Contains(body, "remove the cookies of this site") {
		t.Errorf("the page is %s", body)
	}
	// What a request says counts more than what a browser adds.
	if resp, body := r.do(http.MethodGet, "/auth/whoami", "", both, "Authorization: Bearer "+token); resp.StatusCode != http.StatusOK {
		t.Errorf("with a token: got %s %s", resp.Status, body)
	}
}
