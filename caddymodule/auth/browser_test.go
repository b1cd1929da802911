package auth_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/svc-gateway/svc/caddymodule/auth/caddytest"
	"github.com/svc-gateway/svc/internal/browsertest"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/oidc/oidctest"
)

// app is an application that knows nothing of this service.
func app(t *testing.T) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<p id=app>hello %s</p>`, r.Header.Get("Remote-User"))
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

func TestBrowserAppBehindTheGate(t *testing.T) {
	srv := caddytest.Start(t, caddytest.Config{
		Site: "handle_path /app/* {\nsvc_auth {\nidentity_headers\n}\nreverse_proxy " + app(t) + "\n}",
	})
	b := browsertest.New(t)
	b.Open(srv.URL + "/app/page?a=b")
	b.Type("#token", srv.Token)
	b.Submit("#token")
	b.Wait("#app")
	if got := b.Text("#app"); got != "hello admin" || b.Location() != srv.URL+"/app/page?a=b" {
		t.Errorf("got %q at %s", got, b.Location())
	}
	b.Open(srv.URL + "/app/auth/")
	b.Click("header button")
	b.Wait("#token")
	if at := b.Location(); at != srv.URL+"/app/auth/login?out" {
		t.Errorf("after the logout: got to %s", at)
	}
}

// TestBrowserOIDC goes to a certified identity provider, which is another site than ours, and
// back: the cookie that is SameSite=Strict arrives all the same. Logging out here logs out there.
func TestBrowserOIDC(t *testing.T) {
	srv := caddytest.Start(t, caddytest.Config{Site: "svc_auth"})
	base := srv.At("localhost") // the provider is at 127.0.0.1
	n, err := oidctest.StartNode(oidctest.NodeConfig{
		RedirectURIs: []string{base + "/auth/oidc/corp/callback"}, AfterLogout: []string{base + "/auth/login"},
		Users: map[string]map[string]any{"alice": {"groups": []string{"ops"}}, "bob": {}},
	})
	if errors.Is(err, oidctest.ErrNoNode) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Setenv("OIDC_SECRET", oidctest.ClientSecret)
	srv.Configure(caddytest.Config{
		Site: "svc_auth {\nidentity_headers\n}\nreverse_proxy " + app(t), Host: "localhost",
		Svc: "auth {\nmode token oidc\npublic_url " + base + "\n}\noidc corp {\nissuer " + n.URL + "\nclient_id " + oidctest.ClientID +
			"\nclient_secret {env.OIDC_SECRET}\nscopes openid profile\nuser_groups ops\nlabel \"Log in with Example Corp\"\n}",
	})
	b := browsertest.New(t)
	as := func(name string) {
		t.Helper()
		b.Wait(`input[name="login"]`)
		b.Type(`input[name="login"]`, name)
		b.Type(`input[name="password"]`, "x")
		b.Click(`button[type="submit"]`)
	}
	b.Open(base + "/page?a=b")
	b.Screenshot("login-oidc", 1200)
	b.Click("a.button")
	as("alice")
	b.Wait("#app")
	if got := b.Text("#app"); got != "hello alice" || b.Location() != base+"/page?a=b" {
		t.Errorf("got %q at %s", got, b.Location())
	}
	c := b.Cookie("localhost", identity.SessionCookie)
	if c == nil || c.SameSite != "Strict" {
		t.Fatalf("got the cookie %+v", c)
	}

	b.Open(base + "/auth/account")
	b.Click("header button")
	b.Wait(`button[value="yes"]`)
	b.Click(`button[value="yes"]`)
	b.Wait("#token")
	if at := b.Location(); !strings.HasPrefix(at, base+"/auth/login") {
		t.Errorf("after the logout: got to %s", at)
	}
	resp, body := srv.Send(srv.Request(http.MethodGet, "/auth/whoami", "", "Cookie", "svc_token="+c.Value))
	if resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("the session goes on after the logout: %s %s", resp.Status, body)
	}

	// Whoever the provider knows and we do not is told so, and gets no session.
	b.Click("a.button")
	as("bob")
	b.Wait("main p")
	if got := b.Text("main"); !strings.Contains(got, "no_role") || b.Cookie("localhost", identity.SessionCookie) != nil {
		t.Errorf("got %q at %s", got, b.Location())
	}
}
