package web_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/web"
)

// TestCookie holds the cookie's attributes, which other programs rely on.
func TestCookie(t *testing.T) {
	r := newRig(t)
	token := r.addUser(identity.AddUser{Name: "alice"})
	for _, tt := range []struct {
		name   string
		header []string
		want   string
	}{
		{"plain", nil, "; Path=/; Max-Age=86400; HttpOnly; SameSite=Strict"},
		{"over TLS", []string{"X-Test-Secure: 1"}, "; Path=/; Max-Age=86400; HttpOnly; Secure; SameSite=Strict"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			resp, _ := r.do(http.MethodPost, "/auth/login", url.Values{"token": {token}}.Encode(), append(tt.header, asForm)...)
			line := resp.Header.Get("Set-Cookie")
			secret, attributes, _ := strings.Cut(line, ";")
			if ";"+attributes != tt.want || !identity.IsToken(strings.TrimPrefix(secret, "svc_token=")) {
				t.Errorf("got Set-Cookie %q, want svc_token=<secret>%s", line, tt.want)
			}
		})
	}
}

// A session does not outlive the token, nor its cookie the session.
func TestCookieEndsWithTheToken(t *testing.T) {
	r := newRig(t)
	token := r.addUser(identity.AddUser{Name: "alice", Expires: time.Now().Add(time.Hour)})
	resp, _ := r.do(http.MethodPost, "/auth/login", url.Values{"token": {token}}.Encode(), asForm)
	if c := resp.Cookies(); len(c) != 1 || c[0].MaxAge < 3590 || c[0].MaxAge > 3600 {
		t.Errorf("got cookies %v, want a Max-Age of about an hour", c)
	}
}

func TestLoginJSON(t *testing.T) {
	r := newRig(t, withDirectory(&directory{}))
	token := r.addUser(identity.AddUser{Name: "alice"})
	for _, tt := range []struct {
		name, body string
		user       string
		kind       identity.SessionKind
	}{
		{"token", `{"token":"` + token + `"}`, "alice", identity.WebSession},
		{"token, for programs", `{"token":"` + token + `","kind":"api"}`, "alice", identity.APISession},
		{"password", `{"user":"ada","password":"enigma"}`, "ada", identity.WebSession},
		{"password, for programs", `{"user":"ada","password":"enigma","kind":"api"}`, "ada", identity.APISession},
	} {
		t.Run(tt.name, func(t *testing.T) {
			resp, body := r.do(http.MethodPost, "/auth/login", tt.body, asJSON)
			var got struct {
				User, Role, Kind, Token string
				SessionID               string `json:"session_id"`
				Expires                 time.Time
			}
			if err := json.Unmarshal([]byte(body), &got); err != nil || resp.StatusCode != http.StatusOK {
				t.Fatalf("got %s %s", resp.Status, body)
			}
			if got.User != tt.user || got.Role != "user" || got.Kind != string(tt.kind) || got.SessionID == "" ||
				time.Until(got.Expires) < lifetime-time.Minute || time.Until(got.Expires) > lifetime {
				t.Errorf("got %s", body)
			}
			// The secret of a browser's session is in the cookie only, that of a program's in the body.
			api := tt.kind == identity.APISession
			if (got.Token != "") != api || (len(resp.Cookies()) == 0) != api {
				t.Errorf("kind %s: got the token %q and the cookies %v", tt.kind, got.Token, resp.Cookies())
			}
			if resp.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("Cache-Control is %q", resp.Header.Get("Cache-Control"))
			}
		})
	}
	if got := len(r.log.of(audit.Login)); got != 4 {
		t.Errorf("got %d records of logins, want 4", got)
	}
}

// TestRefusedLogins holds what is told, and that it is the same whether there is such a user.
func TestRefusedLogins(t *testing.T) {
	d := &directory{}
	r := newRig(t, withDirectory(d))
	token := r.addUser(identity.AddUser{Name: "alice"})
	revoked := r.addUser(identity.AddUser{Name: "bob"})
	if _, err := r.RevokeToken(t.Context(), boss, "bob", ""); err != nil {
		t.Fatal(err)
	}
	mangled := token[:len(token)-1] + map[bool]string{true: "1", false: "0"}[strings.HasSuffix(token, "0")]
	resp, body := r.do(http.MethodPost, "/auth/login", `{"token":"`+token+`","kind":"api"}`, asJSON)
	if resp.StatusCode != http.StatusOK {
		t.Fatal(body)
	}
	session := body[strings.Index(body, "svc_"):][:len(token)]
	for _, tt := range []struct {
		name   string
		body   any
		status int
		code   string
	}{
		{"wrong password", url.Values{"user": {"ada"}, "password": {"guess"}}, 401, "credentials_wrong"},
		{"unknown user", url.Values{"user": {"nobody"}, "password": {"guess"}}, 401, "credentials_wrong"},
		{"empty password", url.Values{"user": {"ada"}, "password": {""}}, 401, "credentials_wrong"},
		{"no role", url.Values{"user": {"norole"}, "password": {"enigma"}}, 403, "no_role"},
		{"mangled token", url.Values{"token": {mangled}}, 401, "token_malformed"},
		{"revoked token", url.Values{"token": {revoked}}, 401, "token_revoked"},
		{"the secret of a session", url.Values{"token": {session}}, 401, "token_unknown"},
		{"nothing", url.Values{}, 422, "invalid_request"},
		{"both", url.Values{"token": {token}, "user": {"ada"}, "password": {"enigma"}}, 422, "invalid_request"},
		{"an unknown kind", `{"token":"` + token + `","kind":"root"}`, 422, "invalid_request"},
		{"an unknown key", `{"token":"` + token + `","role":"admin"}`, 422, "invalid_request"},
		{"a key twice", `{"token":"x","token":"` + token + `"}`, 422, "invalid_request"},
		{"no JSON", `{`, 422, "invalid_request"},
		{"a wrong type", `{"token":1}`, 422, "invalid_request"},
		{"too much", `{"token":"` + strings.Repeat("x", 64<<10) + `"}`, 413, "body_too_large"},
		{"too much, as a form", url.Values{"token": {strings.Repeat("x", 64<<10)}}, 413, "body_too_large"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if form, ok := tt.body.(url.Values); ok {
				resp, body := r.do(http.MethodPost, "/auth/login", form.Encode(), asForm, page)
				if resp.StatusCode != tt.status || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") || len(resp.Cookies()) > 0 {
					t.Errorf("form: got %s %v %s", resp.Status, resp.Header, body)
				}
				if strings.Contains(body, "guess") || strings.Contains(body, "enigma") || strings.Contains(body, "svc_"+token[4:8]) {
					t.Errorf("the page repeats a secret: %s", body)
				}
				m := map[string]string{}
				for k := range form {
					m[k] = form.Get(k)
				}
				doc, err := json.Marshal(m)
				if err != nil {
					t.Fatal(err)
				}
				tt.body = string(doc)
			}
			resp, body := r.do(http.MethodPost, "/auth/login", tt.body.(string), asJSON)
			if resp.StatusCode != tt.status || code(resp, body) != tt.code || len(resp.Cookies()) > 0 {
				t.Errorf("JSON: got %s %s, want %d %s", resp.Status, body, tt.status, tt.code)
			}
			if (resp.StatusCode == 401) != (resp.Header.Get("WWW-Authenticate") != "") || strings.Contains(resp.Header.Get("WWW-Authenticate"), "Basic") {
				t.Errorf("WWW-Authenticate is %q", resp.Header.Get("WWW-Authenticate"))
			}
		})
	}
	t.Run("the directory is down", func(t *testing.T) {
		d.down = errors.New("dial tcp 10.0.0.1:636: password hunter2")
		resp, body := r.do(http.MethodPost, "/auth/login", url.Values{"user": {"ada"}, "password": {"enigma"}}.Encode(), asForm, page)
		if resp.StatusCode != http.StatusServiceUnavailable || strings.Contains(body, "hunter2") {
			t.Errorf("got %s %s", resp.Status, body)
		}
	})
	t.Run("the media type", func(t *testing.T) {
		for _, media := range []string{"", "text/plain", "multipart/form-data; boundary=x"} {
			resp, body := r.do(http.MethodPost, "/auth/login", `{"token":"`+token+`"}`, "Content-Type: "+media)
			if resp.StatusCode != http.StatusUnsupportedMediaType {
				t.Errorf("%q: got %s %s", media, resp.Status, body)
			}
		}
	})
	t.Run("a query string is not looked at", func(t *testing.T) {
		resp, _ := r.do(http.MethodPost, "/auth/login?token="+token, "", asForm)
		if resp.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("got %s", resp.Status)
		}
	})
	failed := r.log.of(audit.LoginFailed)
	if len(failed) == 0 {
		t.Error("no refused token was recorded")
	}
	for _, e := range failed {
		if e.Address == "" || len(e.Reasons) != 1 {
			t.Errorf("recorded %+v", e)
		}
	}
}

// What auth.mode does not list does not log in.
func TestOnlyWhatIsConfiguredLogsIn(t *testing.T) {
	token := func(r *rig) string { return r.addUser(identity.AddUser{Name: "alice"}) }
	t.Run("no tokens", func(t *testing.T) {
		r := newRig(t, withDirectory(&directory{}), func(c *web.Config) { c.Tokens = false })
		if resp, body := r.do(http.MethodPost, "/auth/login", `{"token":"`+token(r)+`"}`, asJSON); resp.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("got %s %s", resp.Status, body)
		}
		if _, body := r.do(http.MethodGet, "/auth/login", ""); strings.Contains(body, `name="token"`) || !strings.Contains(body, `name="password"`) {
			t.Errorf("the page is %s", body)
		}
	})
	t.Run("no passwords", func(t *testing.T) {
		r := newRig(t)
		if resp, body := r.do(http.MethodPost, "/auth/login", `{"user":"ada","password":"enigma"}`, asJSON); resp.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("got %s %s", resp.Status, body)
		}
		if _, body := r.do(http.MethodGet, "/auth/login", ""); strings.Contains(body, `name="password"`) || !strings.Contains(body, `name="token"`) {
			t.Errorf("the page is %s", body)
		}
	})
}

// TestFixation holds that a login ends the session that the browser had, whoever knows it, and
// that a secret somebody chose never becomes a session.
func TestFixation(t *testing.T) {
	r := newRig(t)
	attacker, victim := r.addUser(identity.AddUser{Name: "mallory"}), r.addUser(identity.AddUser{Name: "alice"})
	planted := r.login(url.Values{"token": {attacker}})
	own := r.login(url.Values{"token": {victim}}, planted)
	if own == planted {
		t.Fatal("the session that was planted goes on as the victim's")
	}
	if resp, body := r.do(http.MethodGet, "/auth/whoami", "", planted); resp.StatusCode != http.StatusUnauthorized || code(resp, body) != "session_ended" {
		t.Errorf("the planted session: got %s %s", resp.Status, body)
	}
	again := r.login(url.Values{"token": {victim}}, own)
	if resp, _ := r.do(http.MethodGet, "/auth/whoami", "", own); again == own || resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("the session before goes on: %s", resp.Status)
	}
	chosen := "Cookie: svc_token=" + victim // not even with the form of one
	if got := r.login(url.Values{"token": {attacker}}, chosen); strings.Contains(got, victim) {
		t.Error("a chosen secret became a session")
	}
	if resp, _ := r.do(http.MethodGet, "/auth/whoami", "", chosen); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("a token works as a cookie: %s", resp.Status)
	}
}

// TestKinds holds that a browser's session is no Bearer token and a program's no cookie.
func TestKinds(t *testing.T) {
	r := newRig(t)
	token := r.addUser(identity.AddUser{Name: "alice"})
	cookie := r.login(url.Values{"token": {token}})
	_, body := r.do(http.MethodPost, "/auth/login", `{"token":"`+token+`","kind":"api"}`, asJSON)
	secret := body[strings.Index(body, "svc_"):][:len(token)]
	web := strings.TrimPrefix(cookie, "Cookie: svc_token=")
	for header, want := range map[string]int{
		cookie:                            200,
		"Authorization: Bearer " + secret: 200,
		"X-Api-Key: " + secret:            200,
		"Authorization: Bearer " + web:    401,
		"X-Api-Key: " + web:               401,
		"Cookie: svc_token=" + secret:     401,
	} {
		if resp, body := r.do(http.MethodGet, "/auth/whoami", "", header); resp.StatusCode != want {
			t.Errorf("%.20s…: got %s %s, want %d", header, resp.Status, body, want)
		}
	}
}

func TestNext(t *testing.T) {
	r := newRig(t)
	token := r.addUser(identity.AddUser{Name: "alice"})
	for next, want := range map[string]string{
		"":                       "/auth/account",
		"/app?a=b":               "/app?a=b",
		"//evil.example":         "/auth/account",
		"https://evil.example/x": "/auth/account",
		"/auth/login?next=/app":  "/auth/account",
		"/auth/logout":           "/auth/account",
		"/auth/login2":           "/auth/login2",
	} {
		resp, _ := r.do(http.MethodPost, "/auth/login", url.Values{"token": {token}, "next": {next}}.Encode(), asForm)
		if got := resp.Header.Get("Location"); got != want {
			t.Errorf("next %q, the login: got Location %q, want %q", next, got, want)
		}
		cookie := "Cookie: " + resp.Cookies()[0].Name + "=" + resp.Cookies()[0].Value
		resp, _ = r.do(http.MethodGet, "/auth/login?"+url.Values{"next": {next}}.Encode(), "", cookie)
		if got := resp.Header.Get("Location"); resp.StatusCode != http.StatusSeeOther || got != want {
			t.Errorf("next %q, the page when logged in: got %s to %q, want %q", next, resp.Status, got, want)
		}
	}
}

// TestAuditFirst holds that nobody is logged in without a record.
func TestAuditFirst(t *testing.T) {
	r := newRig(t)
	token := r.addUser(identity.AddUser{Name: "alice"})
	r.log.breakDown(errors.New("disk full"))
	resp, body := r.do(http.MethodPost, "/auth/login", url.Values{"token": {token}}.Encode(), asForm, page)
	if resp.StatusCode != http.StatusServiceUnavailable || len(resp.Cookies()) > 0 || strings.Contains(body, "disk") {
		t.Errorf("got %s %v %s", resp.Status, resp.Cookies(), body)
	}
}

// A login across origins would put the victim into the attacker's account.
func TestLoginCSRF(t *testing.T) {
	const friend = "https://friend.example"
	r := newRig(t, func(c *web.Config) { c.Origins = []string{friend} })
	token := r.addUser(identity.AddUser{Name: "alice", Role: policy.Admin})
	for _, tt := range []struct {
		name   string
		header []string
		want   int
	}{
		{"the page itself", []string{"Origin: " + r.url, "Sec-Fetch-Site: same-origin"}, 303},
		{"the page, in a browser without Sec-Fetch-Site", []string{"Origin: " + r.url}, 303},
		{"no browser", nil, 303},
		{"a trusted origin", []string{"Origin: " + friend, "Sec-Fetch-Site: cross-site"}, 303},
		{"another site", []string{"Origin: https://evil.example", "Sec-Fetch-Site: cross-site"}, 403},
		{"a sibling", []string{"Origin: https://evil.svc.example", "Sec-Fetch-Site: same-site"}, 403},
		{"another site, in an old browser", []string{"Origin: https://evil.example"}, 403},
		{"a sandboxed frame", []string{"Origin: null"}, 403},
	} {
		t.Run(tt.name, func(t *testing.T) {
			resp, body := r.do(http.MethodPost, "/auth/login", url.Values{"token": {token}}.Encode(), append(tt.header, asForm)...)
			if resp.StatusCode != tt.want || (tt.want == 403) != (len(resp.Cookies()) == 0) {
				t.Errorf("got %s %v %s", resp.Status, resp.Cookies(), body)
			}
		})
	}
}
