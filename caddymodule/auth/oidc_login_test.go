package auth_test

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/svc-gateway/svc/caddymodule/auth/caddytest"
	_ "github.com/svc-gateway/svc/caddymodule/stream" // svc_stream
	"github.com/svc-gateway/svc/policy/identity/oidc/oidctest"
)

// page is a site that says who reads it.
const page = "svc_auth\nheader Content-Type text/html\nrespond `<p id=\"app\">{http.auth.user.id} {http.auth.user.role} {uri}</p>`"

// person is somebody with a browser that keeps cookies and follows redirects.
type person struct {
	t *testing.T
	http.Client
}

func newPerson(t *testing.T) *person {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &person{t, http.Client{Jar: jar, Timeout: 30 * time.Second}}
}

func (p *person) get(address string) (status int, body string) {
	p.t.Helper()
	resp, err := p.Get(address)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// logOut has the provider say that alice logged out there.
func logOut(t *testing.T, srv *caddytest.Server, p *oidctest.Provider) {
	t.Helper()
	token := p.Sign("RS256", "rsa", map[string]any{"typ": "logout+jwt"}, p.Claims(map[string]any{
		"sid": "sid-1", "jti": "1", "events": map[string]any{"http://schemas.openid.net/event/backchannel-logout": map[string]any{}},
	}))
	resp, err := http.PostForm(srv.URL+"/auth/oidc/corp/backchannel", url.Values{"logout_token": {token}})
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("back-channel logout: got %s", resp.Status)
	}
}

func TestOIDCSession(t *testing.T) {
	p, settings := issuer(t)
	srv := caddytest.Start(t, caddytest.Config{Site: page, Svc: settings})
	alice := newPerson(t)
	if status, body := alice.get(srv.URL + "/auth/oidc/corp?next=/app"); status != http.StatusOK || !strings.Contains(body, `content="0; url=/app"`) {
		t.Fatalf("logging in: got %d: %s", status, body)
	}
	if status, body := alice.get(srv.URL + "/app"); status != http.StatusOK || !strings.Contains(body, "alice user /app") {
		t.Fatalf("with the session: got %d: %s", status, body)
	}
	if got := srv.Audit("select user, action, address from audit_events where type = 'login'"); len(got) != 1 || got[0] != "alice oidc 127.0.0.1" {
		t.Errorf("got records %q", got)
	}

	// The provider says that she logged out there.
	logOut(t, srv, p)
	if status, body := alice.get(srv.URL + "/app"); status == http.StatusOK && strings.Contains(body, "alice") {
		t.Errorf("after the logout at the provider: got %d: %s", status, body)
	}
}

func TestOIDCLoginThatFails(t *testing.T) {
	p, settings := issuer(t)
	srv := caddytest.Start(t, caddytest.Config{Site: page, Svc: settings})
	p.SetUser(map[string]any{"sub": "2", "preferred_username": "bob", "groups": []string{"none"}})
	if status, body := newPerson(t).get(srv.URL + "/auth/oidc/corp"); status != http.StatusForbidden || strings.Contains(body, "alice") {
		t.Errorf("without a role: got %d: %s", status, body)
	}
	if status, _ := newPerson(t).get(srv.URL + "/auth/oidc/corp/callback?state=x&code=y"); status != http.StatusBadRequest {
		t.Errorf("a login that nobody began: got %d", status)
	}
	var got []string
	srv.Eventually("the failures are recorded", func() bool {
		got = srv.Audit("select coalesce(user, ''), action, address, reasons from audit_events where type = 'login.failed' order by seq")
		return len(got) == 2
	})
	if got[0] != `bob oidc 127.0.0.1 ["role"]` || got[1] != ` oidc 127.0.0.1 ["state"]` {
		t.Errorf("got records %q", got)
	}
}

// A logout at the provider ends what is open: the stream of the session learns of it at once.
func TestOIDCLogoutEndsStreams(t *testing.T) {
	p, settings := issuer(t)
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: 1\n\n")
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(up.Close)
	srv := caddytest.Start(t, caddytest.Config{Site: "svc_auth\nsvc_stream\nreverse_proxy " + up.URL, Svc: settings})
	alice := newPerson(t)
	if status, body := alice.get(srv.URL + "/auth/oidc/corp"); status != http.StatusOK {
		t.Fatalf("logging in: got %d: %s", status, body)
	}
	resp, err := alice.Get(srv.URL + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.ReadFull(resp.Body, make([]byte, len("data: 1\n\n"))); err != nil {
		t.Fatal(err)
	}
	logOut(t, srv, p)
	if _, err := io.ReadAll(resp.Body); err != nil { // the client's patience is limited
		t.Errorf("the stream goes on: %v", err)
	}
}
