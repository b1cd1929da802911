package web_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"

	"github.com/svc-gateway/svc/internal/browsertest"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
)

// called is the site under a name that browsers do not trust as they trust localhost: they send
// it no Sec-Fetch-Site.
func called(address, name string) string {
	return strings.Replace(address, "127.0.0.1", name, 1)
}

func host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		panic(err)
	}
	return u.Hostname()
}

func TestBrowserToken(t *testing.T) {
	r := newRig(t)
	token := r.addUser(identity.AddUser{Name: "alice"})
	for name, base := range map[string]string{"localhost": r.url, "another name": called(r.url, "svc.test")} {
		t.Run(name, func(t *testing.T) {
			b := browsertest.New(t)
			b.Open(base + "/app?a=b")
			if got, want := b.Location(), base+"/auth/login?next=%2Fapp%3Fa%3Db"; got != want {
				t.Errorf("without a session: got to %s, want %s", got, want)
			}
			b.Type("#token", "svc_wrong")
			b.Submit("#token")
			b.Wait(".bad")
			if got := b.Text(".bad"); got != "The token is incomplete or mistyped: its checksum does not fit." {
				t.Errorf("got the message %q", got)
			}
			b.Type("#token", " "+token)
			b.Submit("#token")
			b.Wait("#app")
			if got := b.Text("#app"); b.Location() != base+"/app?a=b" || got != "alice GET /app?a=b" {
				t.Errorf("after the login: got to %s, %q", b.Location(), got)
			}
			c := b.Cookie(host(base), identity.SessionCookie)
			if c == nil || !c.HTTPOnly || c.SameSite != network.CookieSameSiteStrict || c.Path != "/" || c.Session {
				t.Fatalf("got the cookie %+v", c)
			}
			b.Open(base + "/auth/account")
			b.Click("header button")
			b.Wait("#token")
			if got := b.Text(".message"); got != "You are logged out." || b.Cookie(host(base), identity.SessionCookie) != nil {
				t.Errorf("after the logout: got %q", got)
			}
			if resp, _ := r.do(http.MethodGet, "/auth/whoami", "", "Cookie: svc_token="+c.Value); resp.StatusCode != http.StatusUnauthorized {
				t.Errorf("the session goes on after the logout: %s", resp.Status)
			}
		})
	}
}

func TestBrowserPassword(t *testing.T) {
	r := newRig(t, withDirectory(&directory{}), withProvider)
	b := browsertest.New(t)
	b.Open(r.url + "/app")
	b.Screenshot("login", 1200)
	b.Screenshot("login-phone", 360)
	b.Type("#user", "ada")
	b.Type("#password", "guess")
	b.Submit("#password")
	b.Wait(".bad")
	b.Screenshot("login-wrong-phone", 360)
	if got := b.Text(".bad"); got != "The user name or the password is wrong." {
		t.Errorf("got the message %q", got)
	}
	b.Type("#password", "enigma")
	b.Submit("#password")
	b.Wait("#app")
	if got := b.Text("#app"); got != "ada GET /app" {
		t.Errorf("after the login: got %q", got)
	}
}

func TestBrowserAccount(t *testing.T) {
	r := newRig(t, withDirectory(&directory{}))
	admin := r.addUser(identity.AddUser{Name: "boss", Role: policy.Admin})
	elsewhere := r.login(url.Values{"token": {admin}}, "User-Agent: curl/8.5.0")
	others := r.login(url.Values{"user": {"ada"}, "password": {"enigma"}}, "User-Agent: <script>alert(1)</script>")
	b := browsertest.New(t)
	b.Open(r.url + "/auth/")
	b.Type("#token", admin)
	b.Submit("#token")
	b.Wait("#others")
	b.Screenshot("account", 1200)
	b.Screenshot("account-phone", 360)
	if got := b.Text("#others"); !strings.Contains(got, "ada") || !strings.Contains(got, "<script>alert(1)</script>") {
		t.Errorf("others' sessions: got %q", got)
	}
	b.Click("#others button")
	b.WaitGone("#others")
	b.Wait("#own")
	if resp, _ := r.do(http.MethodGet, "/auth/whoami", "", others); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("ada's session goes on: %s", resp.Status)
	}
	b.Click("#own + form button")
	b.Wait("#token")
	if resp, _ := r.do(http.MethodGet, "/auth/whoami", "", elsewhere); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("the admin's other session goes on: %s", resp.Status)
	}
}

// TestBrowserFromElsewhere holds that a link on another site leads to the page although the
// cookie is not sent on that way, and that nothing else of another site gets anything done.
func TestBrowserFromElsewhere(t *testing.T) {
	r := newRig(t)
	token := r.addUser(identity.AddUser{Name: "alice"})
	for name, tt := range map[string]struct{ base, arrives string }{
		"localhost": {r.url, "#app"},
		// Without Sec-Fetch-Site nobody can tell that the cookie was left out.
		"another name": {called(r.url, "svc.test"), "#token"},
	} {
		t.Run(name, func(t *testing.T) {
			evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprintf(w, `<a id=link href="%[1]s/app">link</a>
<form method=post action="%[1]s/auth/logout"><button id=logout>logout</button></form>
<form method=post action="%[1]s/auth/sessions/end"><button id=end>end</button></form>
<form method=post action="%[1]s/app"><button id=post>post</button></form>
<form method=post action="%[1]s/auth/login"><input name=token value="%[2]s"><button id=login>login</button></form>
<iframe src="%[1]s/auth/login"></iframe>`, tt.base, token)
			}))
			t.Cleanup(evil.Close)
			site := called(evil.URL, "evil.test")
			b := browsertest.New(t)
			b.Open(tt.base + "/auth/login")
			b.Type("#token", token)
			b.Submit("#token")
			b.Wait("#own")
			session := "Cookie: svc_token=" + b.Cookie(host(tt.base), identity.SessionCookie).Value

			b.Open(site)
			b.Click("#link")
			b.Wait(tt.arrives)
			for _, button := range []string{"#logout", "#end", "#post", "#login"} {
				b.Open(site)
				b.Click(button)
				b.WaitGone("#link")
				if resp, body := r.do(http.MethodGet, "/auth/whoami", "", session); resp.StatusCode != http.StatusOK {
					t.Fatalf("%s of another site ended the session: %s", button, body)
				}
				if got := b.Cookie(host(tt.base), identity.SessionCookie); got == nil || "Cookie: svc_token="+got.Value != session {
					t.Errorf("%s of another site changed the cookie: %+v", button, got)
				}
				if got := b.Text("body"); strings.Contains(got, "alice") {
					t.Errorf("%s of another site was answered with %q", button, got)
				}
			}
		})
	}
}
