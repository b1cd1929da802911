package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/oidc"
	"github.com/svc-gateway/svc/policy/identity/web"
)

func TestLogout(t *testing.T) {
	r := newRig(t)
	token := r.addUser(identity.AddUser{Name: "alice"})
	apiSession := func() string {
		_, body := r.do(http.MethodPost, "/auth/login", `{"token":"`+token+`","kind":"api"}`, asJSON)
		return "Authorization: Bearer " + body[strings.Index(body, "svc_"):][:len(token)]
	}
	for _, tt := range []struct {
		name       string
		credential string
		header     []string
		status     int
		location   string
		code       string
	}{
		{"the page", r.login(url.Values{"token": {token}}), []string{page}, 303, "/auth/login?out", ""},
		{"a script on a page", r.login(url.Values{"token": {token}}), []string{"Accept: application/json"}, 200, "", ""},
		{"a program", apiSession(), nil, 200, "", ""},
		{"the page, without a session", "", []string{page}, 303, "/auth/login?out", ""},
		{"the page, with an ended one", "Cookie: svc_token=x", []string{page}, 303, "/auth/login?out", ""},
		{"a program, without a session", "", nil, 401, "", "credentials_missing"},
		{"a token", "Authorization: Bearer " + token, nil, 409, "", "not_a_session"},
		{"another site, which got no cookie", "", []string{page, "Origin: https://evil.example", "Sec-Fetch-Site: cross-site"}, 403, "", ""},
		{"another site, which got one", r.login(url.Values{"token": {token}}), []string{"Origin: https://evil.example", "Sec-Fetch-Site: cross-site"}, 403, "", "cross_origin"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			header := tt.header
			if tt.credential != "" {
				header = append(header, tt.credential)
			}
			resp, body := r.do(http.MethodPost, "/auth/logout", "", header...)
			if resp.StatusCode != tt.status || resp.Header.Get("Location") != tt.location || tt.code != "" && code(resp, body) != tt.code {
				t.Fatalf("got %s %v %s", resp.Status, resp.Header, body)
			}
			cleared := len(resp.Cookies()) == 1 && resp.Cookies()[0].MaxAge < 0 && resp.Cookies()[0].Path == "/"
			if cleared != (tt.status < 400) {
				t.Errorf("got cookies %v", resp.Cookies())
			}
			if tt.credential == "" {
				return
			}
			want := map[bool]int{true: 401, false: 200}[tt.status < 400]
			if resp, _ := r.do(http.MethodGet, "/auth/whoami", "", tt.credential); resp.StatusCode != want {
				t.Errorf("afterwards: got %s, want %d", resp.Status, want)
			}
		})
	}
}

// withProvider has people log in with an identity provider.
func withProvider(c *web.Config) { c.Issuers = provider{} }

// TestIssuers holds what becomes of somebody whom an identity provider has let in.
func TestIssuers(t *testing.T) {
	r := newRig(t, withProvider)
	r.SetSources(nil, provider{})
	resp, body := r.do(http.MethodGet, "/auth/oidc/corp/callback?next=/app", "", page)
	cookies := resp.Cookies()
	if resp.StatusCode != http.StatusOK || len(cookies) != 1 || cookies[0].SameSite != http.SameSiteStrictMode ||
		!strings.Contains(body, `<meta http-equiv="refresh" content="0; url=/app">`) {
		t.Fatalf("got %s %v %s", resp.Status, resp.Header, body)
	}
	cookie := "Cookie: svc_token=" + cookies[0].Value
	resp, body = r.do(http.MethodGet, "/auth/whoami", "", cookie)
	var p policy.Principal
	if err := json.Unmarshal([]byte(body), &p); err != nil || p.User != "eve" || p.Source != policy.SourceOIDC || p.SessionID == "" {
		t.Errorf("got %s %s", resp.Status, body)
	}
	for _, next := range []string{"//evil.example", "https://evil.example", "/auth/login"} {
		resp, body := r.do(http.MethodGet, "/auth/oidc/corp/callback?next="+url.QueryEscape(next), "", page, cookie)
		if !strings.Contains(body, `url=/auth/account"`) {
			t.Errorf("next %q: got %s", next, body)
		}
		if resp, _ := r.do(http.MethodGet, "/auth/whoami", "", cookie); resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("the session before goes on: %s", resp.Status)
		}
		cookie = "Cookie: svc_token=" + resp.Cookies()[0].Value
	}

	// Logging out goes on to the provider, with a page: form-action holds for redirects.
	resp, body = r.do(http.MethodPost, "/auth/logout", "", cookie, page)
	if resp.StatusCode != http.StatusOK || !strings.Contains(body, `<p>The way back.</p>`) || !strings.Contains(body, `content="4; url=https://idp.example/logout?sid=s&#43;1"`) && !strings.Contains(body, `content="4; url=https://idp.example/logout?sid=s+1"`) {
		t.Errorf("the page: got %s %s", resp.Status, body)
	}
	resp, _ = r.do(http.MethodGet, "/auth/oidc/corp/callback", "", page)
	resp, body = r.do(http.MethodPost, "/auth/logout", "", "Cookie: svc_token="+resp.Cookies()[0].Value)
	if !strings.Contains(body, `"logout_url":"https://idp.example/logout?sid=s+1","left_out":"The way back."`) {
		t.Errorf("a program: got %s %s", resp.Status, body)
	}

	// What is not known of the provider's session keeps nobody from logging out here.
	resp, _ = r.do(http.MethodGet, "/auth/oidc/corp/callback?bare", "", page)
	cookie = "Cookie: svc_token=" + resp.Cookies()[0].Value
	if resp, body := r.do(http.MethodPost, "/auth/logout", "", cookie, page); resp.StatusCode != http.StatusSeeOther {
		t.Errorf("a session of an unknown provider: got %s %s", resp.Status, body)
	}
	if resp, body := r.do(http.MethodGet, "/auth/whoami", "", cookie); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("and afterwards: got %s %s", resp.Status, body)
	}

	resp, body = r.do(http.MethodGet, "/auth/oidc/corp", "", page)
	if resp.StatusCode != http.StatusForbidden || !strings.Contains(body, "ask an admin") || len(resp.Cookies()) > 0 {
		t.Errorf("somebody who is refused: got %s %s", resp.Status, body)
	}
	resp, body = r.do(http.MethodGet, "/auth/login?next=%2Fapp", "")
	for _, want := range []string{`href="/auth/oidc/corp?next=%2Fapp">Log in with Example Corp</a>`, `href="/auth/oidc/a%20b?next=%2Fapp">Guests</a>`} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %s: %s %s", want, resp.Status, body)
		}
	}
	if resp, body := newRig(t).do(http.MethodGet, "/auth/oidc/corp", "", page); resp.StatusCode != http.StatusNotFound {
		t.Errorf("without identity providers: got %s %s", resp.Status, body)
	}
}

// provider lets everybody in as eve who comes to its callback, and refuses others.
type provider struct{}

func (provider) Renew(_ context.Context, up identity.Upstream) (identity.External, identity.Upstream, error) {
	return identity.External{}, up, errors.ErrUnsupported
}

func (provider) RoleOf(string, []string) policy.Role { return policy.User }

func (provider) Buttons() []oidc.Button {
	return []oidc.Button{{Name: "corp", Label: "Log in with Example Corp"}, {Name: "a b", Label: "Guests"}}
}

func (provider) LogoutURL(up identity.Upstream) (at, leftOut string) {
	return "https://idp.example/logout?" + url.Values{"sid": {up.SID}}.Encode(), "The way back."
}

func (provider) Handler(enter oidc.Enter, refuse oidc.Refuse) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/oidc/corp/callback" {
			refuse(w, r, identity.RefusePerson(identity.ErrNameTaken))
			return
		}
		w.Header().Set("Referrer-Policy", "no-referrer") // the address holds a code
		up := identity.Upstream{Issuer: "https://idp.example", Subject: "7", SID: "s 1"}
		if r.URL.Query().Has("bare") {
			up = identity.Upstream{}
		}
		enter(w, r, identity.External{
			Source: policy.SourceOIDC, Issuer: "https://idp.example", Subject: "7", Name: "eve", Role: policy.User,
		}, up, r.URL.Query().Get("next"))
	})
}
