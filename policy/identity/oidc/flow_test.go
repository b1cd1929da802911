package oidc_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/oidc"
	"github.com/svc-gateway/svc/policy/identity/oidc/oidctest"
)

// site is this service as a browser meets it. An answer is what came of a login.
type site struct {
	*httptest.Server
	flow *oidc.Flow

	mu     sync.Mutex
	events []audit.Event
	ended  [][3]string
	logout identity.UpstreamLogout // the last one
	broken error                   // of ending sessions
}

// answer is what the handlers of the pages are called with.
type answer struct {
	Who     identity.External
	Up      identity.Upstream
	Next    string
	Refused *identity.Refused
	Error   string // a technical one
}

func (s *site) Record(context.Context, ...audit.Event) error { return nil }

func (s *site) Queue(_ context.Context, e ...audit.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, e...)
	return nil
}

func (s *site) end(_ context.Context, l identity.UpstreamLogout) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logout = l
	s.ended = append(s.ended, [3]string{l.Issuer, l.Subject, l.SID})
	return 1, s.broken
}

// results has the answers in the order they were given; secrets print as nothing, so they are
// kept beside the page.
var results sync.Map // of a page's number to an answer

func newSite(t *testing.T, set *oidc.Set) *site {
	t.Helper()
	s := &site{}
	s.flow = &oidc.Flow{
		Set: set, Sessions: s.end, Audit: s, Home: "/auth/login",
		Arrival: func(r *http.Request) (string, bool) { return "/auth", r.Header.Get("X-Forwarded-Proto") == "https" },
	}
	give := func(w http.ResponseWriter, a answer) {
		key := t.Name() + time.Now().String()
		results.Store(key, a)
		_, _ = io.WriteString(w, key)
	}
	h := s.flow.Handler(
		func(w http.ResponseWriter, _ *http.Request, who identity.External, up identity.Upstream, next string) {
			give(w, answer{Who: who, Up: up, Next: next})
		},
		func(w http.ResponseWriter, _ *http.Request, err error) {
			if refused, ok := errors.AsType[*identity.Refused](err); ok {
				w.WriteHeader(refused.Status)
				give(w, answer{Refused: refused})
				return
			}
			w.WriteHeader(http.StatusServiceUnavailable)
			give(w, answer{Error: err.Error()})
		},
	)
	s.Server = httptest.NewServer(http.StripPrefix("/auth", h))
	t.Cleanup(s.Close)
	return s
}

// browser keeps cookies and follows redirects.
func browser(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar}
}

func visit(t *testing.T, c *http.Client, address string) answer {
	t.Helper()
	resp, err := c.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	a, ok := results.Load(string(body))
	if !ok {
		t.Fatalf("%s answers %s: %s", address, resp.Status, body)
	}
	return a.(answer)
}

// ways is where a browser that follows no redirects was sent: to the provider, and back.
func ways(t *testing.T, c *http.Client, begin string) (there, back *url.URL) {
	t.Helper()
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	defer func() { c.CheckRedirect = nil }()
	for _, to := range []**url.URL{&there, &back} {
		resp, err := c.Get(begin)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if *to, err = resp.Location(); err != nil {
			t.Fatalf("%s answers %s", begin, resp.Status)
		}
		begin = (*to).String()
	}
	return there, back
}

func TestLogin(t *testing.T) {
	p := provider(t)
	s := newSite(t, newSet(t, at(p)))
	before := time.Now()
	got := visit(t, browser(t), s.URL+"/auth/oidc/corp?next=/docs%3Fx%3D1")
	want := identity.External{
		Source: policy.SourceOIDC, Issuer: p.URL, Subject: "1", Name: "alice", Role: policy.Admin, Groups: []string{"ops"},
	}
	if d := cmp.Diff(want, got.Who); d != "" {
		t.Errorf("who (-want +got):\n%s", d)
	}
	if got.Next != "/docs?x=1" {
		t.Errorf("next: got %q", got.Next)
	}
	up := got.Up
	if up.Issuer != p.URL || up.Subject != "1" || up.SID != "sid-1" || up.Refresh == "" || up.IDToken == "" {
		t.Errorf("got upstream %+v", up)
	}
	if life := up.Due.Sub(before); life < 4*time.Minute || life > 6*time.Minute {
		t.Errorf("to be renewed in %s, want about 5m, the life of the access token", life)
	}
}

func TestLoginWithoutRefreshToken(t *testing.T) {
	p := provider(t)
	s := newSite(t, newSet(t, at(p)))
	c := browser(t)
	there, back := ways(t, c, s.URL+"/auth/oidc/corp")
	p.Override("/token", reply(map[string]any{
		"access_token": "a", "token_type": "Bearer",
		"id_token": p.Token(map[string]any{"nonce": there.Query().Get("nonce")}),
	}))
	if got := visit(t, c, back.String()); got.Who.Name != "alice" || got.Up.Refresh != "" || !got.Up.Due.After(time.Now()) {
		t.Errorf("got %+v", got)
	}
}

func reply(v any) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	})
}

func TestWayToTheProvider(t *testing.T) {
	p := provider(t)
	i := at(p)
	i.Scopes = []string{"openid", "offline_access"}
	s := newSite(t, newSet(t, i))
	c := browser(t)
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for _, tt := range []struct{ name, public, proto, redirect string }{
		{"as the request has it", "", "", s.URL + "/auth/oidc/corp/callback"},
		{"over TLS", "", "https", strings.Replace(s.URL, "http:", "https:", 1) + "/auth/oidc/corp/callback"},
		{"public_url", "https://gateway.example", "", "https://gateway.example/auth/oidc/corp/callback"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s.flow.PublicURL = tt.public
			r, _ := http.NewRequest(http.MethodGet, s.URL+"/auth/oidc/corp", nil)
			r.Header.Set("X-Forwarded-Proto", tt.proto)
			resp, err := c.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			to, _ := resp.Location()
			q := to.Query()
			got := map[string]string{}
			for _, name := range []string{"response_type", "client_id", "redirect_uri", "scope", "code_challenge_method", "prompt"} {
				got[name] = q.Get(name)
			}
			want := map[string]string{
				"response_type": "code", "client_id": "svc", "redirect_uri": tt.redirect,
				"scope": "openid offline_access", "code_challenge_method": "S256", "prompt": "consent",
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if len(q.Get("state")) < 20 || len(q.Get("nonce")) < 20 || q.Get("state") == q.Get("nonce") || len(q.Get("code_challenge")) != 43 {
				t.Errorf("got %s", to)
			}
			cookies := resp.Cookies()
			if len(cookies) != 1 {
				t.Fatalf("got cookies %v", cookies)
			}
			k := cookies[0]
			if !k.HttpOnly || k.SameSite != http.SameSiteLaxMode || k.Path != "/auth/oidc/corp" || k.MaxAge != 600 || k.Secure != (tt.proto == "https") {
				t.Errorf("got cookie %v", k)
			}
			if h := resp.Header; h.Get("Cache-Control") != "no-store" || h.Get("Referrer-Policy") != "no-referrer" {
				t.Errorf("got headers %v", h)
			}
		})
	}
}

// What comes back to us is only taken from the browser that was sent away, once, and from the
// provider that it was sent to.
func TestCallbackAttacks(t *testing.T) {
	p, other := provider(t), provider(t)
	second := at(other)
	second.Name = "other"
	s := newSite(t, newSet(t, at(p), second))
	set := func(u *url.URL, name, value string) string {
		q := u.Query()
		if q.Set(name, value); value == "" {
			q.Del(name)
		}
		c := *u
		c.RawQuery = q.Encode()
		return c.String()
	}
	const unknown = "login_unknown"
	for name, tt := range map[string]struct {
		attack func(c *http.Client, back *url.URL) answer
		want   string // the code; empty: technical
	}{
		"another browser": {func(_ *http.Client, back *url.URL) answer { return visit(t, browser(t), back.String()) }, unknown},
		"used twice": {func(c *http.Client, back *url.URL) answer {
			if a := visit(t, c, back.String()); a.Refused != nil {
				t.Errorf("the first time: %v", a.Refused)
			}
			return visit(t, c, back.String())
		}, unknown},
		"no state":    {func(c *http.Client, back *url.URL) answer { return visit(t, c, set(back, "state", "")) }, unknown},
		"other state": {func(c *http.Client, back *url.URL) answer { return visit(t, c, set(back, "state", "x")) }, unknown},
		"same beginning of the state": {func(c *http.Client, back *url.URL) answer {
			return visit(t, c, set(back, "state", back.Query().Get("state")+"x"))
		}, unknown},
		"the code twice": {func(c *http.Client, back *url.URL) answer {
			return visit(t, c, back.String()+"&code=x")
		}, unknown},
		"another code first": {func(c *http.Client, back *url.URL) answer {
			u := *back
			u.RawQuery = "code=x&" + u.RawQuery
			return visit(t, c, u.String())
		}, unknown},
		"the state twice": {func(c *http.Client, back *url.URL) answer {
			return visit(t, c, back.String()+"&state="+back.Query().Get("state"))
		}, unknown},
		"iss twice": {func(c *http.Client, back *url.URL) answer {
			return visit(t, c, back.String()+"&iss="+url.QueryEscape(other.URL))
		}, unknown},
		"another parameter twice": {func(c *http.Client, back *url.URL) answer {
			return visit(t, c, back.String()+"&session_state=a&session_state=b")
		}, unknown},
		"a query of two kinds": {func(c *http.Client, back *url.URL) answer {
			return visit(t, c, back.String()+"&code=y;code=x")
		}, unknown},
		"no code":        {func(c *http.Client, back *url.URL) answer { return visit(t, c, set(back, "code", "")) }, unknown},
		"a made-up code": {func(c *http.Client, back *url.URL) answer { return visit(t, c, set(back, "code", "x")) }, unknown},
		"the code of another login": {func(c *http.Client, back *url.URL) answer {
			_, stolen := ways(t, browser(t), s.URL+"/auth/oidc/corp")
			return visit(t, c, set(back, "code", stolen.Query().Get("code")))
		}, unknown},
		"sent to the other provider's callback": {func(c *http.Client, back *url.URL) answer {
			u := *back
			u.Path = "/auth/oidc/other/callback"
			return visit(t, c, u.String())
		}, unknown},
		"iss of another provider": {func(c *http.Client, back *url.URL) answer { return visit(t, c, set(back, "iss", other.URL)) }, unknown},
		"iss left out":            {func(c *http.Client, back *url.URL) answer { return visit(t, c, set(back, "iss", "")) }, unknown},
		"changed cookie": {func(c *http.Client, back *url.URL) answer {
			k := c.Jar.Cookies(back)[0]
			v := []byte(k.Value)
			v[20] ^= 1
			c.Jar.SetCookies(back, []*http.Cookie{{Name: k.Name, Value: string(v), Path: "/auth/oidc/corp"}})
			return visit(t, c, back.String())
		}, unknown},
		"refused by the provider": {func(c *http.Client, back *url.URL) answer {
			return visit(t, c, set(back, "error", "access_denied"))
		}, "login_denied"},
		"provider in trouble": {func(c *http.Client, back *url.URL) answer {
			return visit(t, c, set(back, "error", "temporarily_unavailable"))
		}, ""},
		"no such provider": {func(c *http.Client, back *url.URL) answer { return visit(t, c, s.URL+"/auth/oidc/nobody") }, "issuer_unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			c := browser(t)
			_, back := ways(t, c, s.URL+"/auth/oidc/corp")
			got := tt.attack(c, back)
			if tt.want == "" && got.Error == "" || tt.want != "" && (got.Refused == nil || got.Refused.Code != tt.want) {
				t.Errorf("got %+v, want %q", got, tt.want)
			}
		})
	}
}

func TestProviderErrorIsNotRepeated(t *testing.T) {
	p := provider(t)
	s := newSite(t, newSet(t, at(p)))
	c := browser(t)
	_, back := ways(t, c, s.URL+"/auth/oidc/corp")
	q := back.Query()
	q.Set("error", `<script>alert(1)</script>`)
	back.RawQuery = q.Encode()
	if got := visit(t, c, back.String()); got.Refused == nil || strings.Contains(got.Refused.Detail, "script") {
		t.Errorf("got %+v", got)
	}
}

// The token endpoint is the provider's own, and still nothing is believed that is not signed for
// this login.
func TestBadIDTokens(t *testing.T) {
	p, other := provider(t), provider(t)
	s := newSite(t, newSet(t, at(p)))
	for name, tt := range map[string]struct {
		token func(nonce string) string
		want  string
	}{
		"none":               {func(string) string { return "" }, "not a signed JWT"},
		"no nonce":           {func(string) string { return p.Token(nil) }, "nonce is wrong"},
		"other nonce":        {func(string) string { return p.Token(map[string]any{"nonce": "x"}) }, "nonce is wrong"},
		"for another client": {func(n string) string { return p.Token(map[string]any{"nonce": n, "aud": "spa"}) }, "not for this service"},
		"another party":      {func(n string) string { return p.Token(map[string]any{"nonce": n, "azp": "spa"}) }, "another client"},
		"expired":            {func(n string) string { return p.Token(map[string]any{"nonce": n, "exp": 1000}) }, "has expired"},
		"another issuer":     {func(n string) string { return p.Token(map[string]any{"nonce": n, "iss": other.URL}) }, "not known here"},
		"another's key":      {func(n string) string { return other.Token(map[string]any{"nonce": n, "iss": p.URL}) }, "signature is wrong"},
		"an access token": {func(n string) string {
			return p.Sign("RS256", "rsa", map[string]any{"typ": "at+jwt"}, p.Claims(map[string]any{"nonce": n}))
		}, "not for this use"},
		"without a role":         {func(n string) string { return p.Token(map[string]any{"nonce": n, "groups": []string{"x"}}) }, "gives a role"},
		"another access token's": {func(n string) string { return p.Token(map[string]any{"nonce": n, "at_hash": "x"}) }, "another access token"},
	} {
		t.Run(name, func(t *testing.T) {
			c := browser(t)
			there, back := ways(t, c, s.URL+"/auth/oidc/corp")
			p.Override("/token", reply(map[string]any{
				"access_token": "a", "token_type": "Bearer", "id_token": tt.token(there.Query().Get("nonce")),
			}))
			defer p.Override("/token", nil)
			got := visit(t, c, back.String())
			if got.Refused == nil || !strings.Contains(got.Refused.Detail, tt.want) {
				t.Errorf("got %+v, want a refusal with %q", got, tt.want)
			}
		})
	}
	if len(s.events) == 0 || s.events[0].Type != audit.LoginFailed || len(s.events[0].Reasons) != 1 {
		t.Errorf("got records %+v", s.events)
	}
}

func TestTokenEndpointInTrouble(t *testing.T) {
	p := provider(t)
	s := newSite(t, newSet(t, at(p)))
	c := browser(t)
	_, back := ways(t, c, s.URL+"/auth/oidc/corp")
	p.Override("/token", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "hunter2", http.StatusInternalServerError)
	}))
	if got := visit(t, c, back.String()); got.Error == "" || strings.Contains(got.Error, "hunter2") {
		t.Errorf("got %+v, want a technical error without the answer's text", got)
	}
}

func TestManyLoginsAtOnce(t *testing.T) {
	p := provider(t)
	s := newSite(t, newSet(t, at(p)))
	c := browser(t)
	var last *url.URL
	for range 20 {
		_, last = ways(t, c, s.URL+"/auth/oidc/corp")
	}
	if n := len(c.Jar.Cookies(last)); n > 6 {
		t.Errorf("%d logins are kept, want at most 6", n)
	}
	if got := visit(t, c, last.String()); got.Who.Name != "alice" {
		t.Errorf("the last one: got %+v", got)
	}
}

func TestUserInfo(t *testing.T) {
	p := provider(t)
	i := at(p)
	i.UserInfo = true
	s := newSite(t, newSet(t, i))
	p.SetUser(map[string]any{"sub": "1", "preferred_username": "alice", "groups": []string{"staff"}})
	if got := visit(t, browser(t), s.URL+"/auth/oidc/corp"); got.Who.Role != policy.User {
		t.Errorf("got %+v, want the role of the userinfo's groups", got)
	}
	p.Override("/userinfo", reply(map[string]any{"sub": "2", "groups": []string{"ops"}}))
	if got := visit(t, browser(t), s.URL+"/auth/oidc/corp"); got.Refused == nil || !strings.Contains(got.Refused.Detail, "somebody else") {
		t.Errorf("about somebody else: got %+v", got)
	}
	p.Override("/userinfo", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }))
	if got := visit(t, browser(t), s.URL+"/auth/oidc/corp"); got.Error == "" {
		t.Errorf("in trouble: got %+v, want a technical error", got)
	}
	p.Override("/userinfo", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	if got := visit(t, browser(t), s.URL+"/auth/oidc/corp"); got.Refused == nil {
		t.Errorf("not taken: got %+v, want a refusal", got)
	}
}

func TestLogoutURL(t *testing.T) {
	p := provider(t)
	s := newSite(t, newSet(t, at(p)))
	up := identity.Upstream{Issuer: p.URL, IDToken: "hint"}
	if got, _ := s.flow.LogoutURL(up); got != "" {
		t.Errorf("before anything is known of the provider: got %q", got)
	}
	visit(t, browser(t), s.URL+"/auth/oidc/corp")
	bare := p.URL + "/logout?client_id=svc&id_token_hint=hint"
	if got, leftOut := s.flow.LogoutURL(up); got != bare || !strings.Contains(leftOut, "auth.public_url") {
		t.Errorf("got %q, %q; want %q, and the setting named", got, leftOut, bare)
	}
	s.flow.PublicURL = "https://g.example"
	want := bare + "&post_logout_redirect_uri=https%3A%2F%2Fg.example%2Fauth%2Flogin"
	if got, leftOut := s.flow.LogoutURL(up); got != want || leftOut != "" {
		t.Errorf("got %q, %q; want %q, and nothing left out", got, leftOut, want)
	}
	if got, _ := s.flow.LogoutURL(identity.Upstream{Issuer: "https://gone.example"}); got != "" {
		t.Errorf("a provider that is gone: got %q", got)
	}
}

func TestButtons(t *testing.T) {
	p := provider(t)
	i := at(p)
	i.Label = "Example"
	s := newSite(t, newSet(t, i, settings.Issuer{Name: "ci", URL: "https://ci.example", Audience: []string{"api"}}))
	if d := cmp.Diff([]oidc.Button{{Name: "corp", Label: "Example"}}, s.flow.Buttons()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got := visit(t, browser(t), s.URL+"/auth/oidc/ci"); got.Refused == nil || got.Refused.Status != http.StatusNotFound {
		t.Errorf("a provider for bearer tokens alone: got %+v", got)
	}
}

func decode(t *testing.T, r io.Reader) (doc map[string]any) {
	t.Helper()
	if err := json.NewDecoder(r).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// A login that was begun before a restart, or at another process on the same data folder, can be
// finished; one of another service cannot.
func TestLoginAcrossProcesses(t *testing.T) {
	p := provider(t)
	dir := t.TempDir()
	open := func(key string) *oidc.Set {
		t.Helper()
		s, err := oidc.New([]settings.Issuer{at(p)}, oidc.Options{
			Env: func(string) (string, bool) { return oidctest.ClientSecret, true }, LoginKey: filepath.Join(dir, key),
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		return s
	}
	s := newSite(t, open("a"))
	c := browser(t)
	_, back := ways(t, c, s.URL+"/auth/oidc/corp")
	s.flow.Set = open("b")
	if got := visit(t, c, back.String()); got.Refused == nil {
		t.Errorf("with another key: got %+v", got)
	}
	s.flow.Set = open("a")
	if got := visit(t, c, back.String()); got.Who.Name != "alice" {
		t.Errorf("with the same key: got %+v", got)
	}
	if err := os.WriteFile(filepath.Join(dir, "short"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := oidc.New(nil, oidc.Options{LoginKey: filepath.Join(dir, "short")}); err == nil || !strings.Contains(err.Error(), "remove it to have another made") {
		t.Errorf("with a broken key: got %v", err)
	}
}
