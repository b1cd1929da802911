package oidc_test

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/oidc/oidctest"
)

var loggedOut = map[string]any{"http://schemas.openid.net/event/backchannel-logout": map[string]any{}}

// logoutToken has the claims of a good one, with those changed.
func logoutToken(p *oidctest.Provider, more map[string]any) string {
	c := p.Claims(map[string]any{"events": loggedOut, "jti": time.Now().String(), "sid": "sid-1", "preferred_username": nil, "groups": nil})
	for name, v := range more {
		if c[name] = v; v == nil {
			delete(c, name)
		}
	}
	return p.Sign("RS256", "rsa", map[string]any{"typ": "logout+jwt"}, c)
}

func post(t *testing.T, s *site, name, token string) (int, string) {
	t.Helper()
	resp, err := http.PostForm(s.URL+"/auth/oidc/"+name+"/backchannel", url.Values{"logout_token": {token}})
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if resp.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("the answer may be cached: %v", resp.Header)
	}
	return resp.StatusCode, string(body)
}

func TestBackChannelLogout(t *testing.T) {
	p := provider(t)
	s := newSite(t, newSet(t, at(p)))
	for name, tt := range map[string]struct {
		claims map[string]any
		want   [3]string
	}{
		"sub and sid": {nil, [3]string{p.URL, "1", "sid-1"}},
		"sid alone":   {map[string]any{"sub": nil}, [3]string{p.URL, "", "sid-1"}},
		"sub alone":   {map[string]any{"sid": nil}, [3]string{p.URL, "1", ""}},
		"no end":      {map[string]any{"exp": nil}, [3]string{p.URL, "1", "sid-1"}},
	} {
		t.Run(name, func(t *testing.T) {
			s.ended = nil
			if status, body := post(t, s, "corp", logoutToken(p, tt.claims)); status != http.StatusOK {
				t.Fatalf("got %d: %s", status, body)
			}
			if d := cmp.Diff([][3]string{tt.want}, s.ended); d != "" {
				t.Errorf("ended (-want +got):\n%s", d)
			}
		})
	}
}

func TestBadLogoutTokens(t *testing.T) {
	p, other := provider(t), provider(t)
	second := at(other)
	second.Name = "other"
	s := newSite(t, newSet(t, at(p), second))
	now := time.Now().Unix()
	used := logoutToken(p, nil)
	if status, body := post(t, s, "corp", used); status != http.StatusOK {
		t.Fatalf("got %d: %s", status, body)
	}
	s.ended = nil
	for name, tt := range map[string]struct{ token, want string }{
		"nothing":             {"", "not a signed JWT"},
		"used before":         {used, "used before"},
		"an ID token":         {p.Token(map[string]any{"nonce": "x"}), "tells of no logout"},
		"no event":            {logoutToken(p, map[string]any{"events": nil}), "tells of no logout"},
		"another event":       {logoutToken(p, map[string]any{"events": map[string]any{"x": map[string]any{}}}), "tells of no logout"},
		"event is no object":  {logoutToken(p, map[string]any{"events": map[string]any{"http://schemas.openid.net/event/backchannel-logout": true}}), "tells of no logout"},
		"nonce":               {logoutToken(p, map[string]any{"nonce": "x"}), "it has a nonce"},
		"no jti":              {logoutToken(p, map[string]any{"jti": nil}), "lacks jti"},
		"nobody":              {logoutToken(p, map[string]any{"sub": nil, "sid": nil}), "neither sub nor sid"},
		"for another client":  {logoutToken(p, map[string]any{"aud": "spa"}), "not for this service"},
		"of another provider": {logoutToken(other, nil), "another provider"},
		"of nobody we know":   {logoutToken(p, map[string]any{"iss": "https://evil.example"}), "not known here"},
		"another's key":       {other.Sign("RS256", "rsa", nil, p.Claims(map[string]any{"events": loggedOut, "jti": "x"})), "signature is wrong"},
		"expired":             {logoutToken(p, map[string]any{"exp": now - 60}), "has expired"},
		"old":                 {logoutToken(p, map[string]any{"exp": nil, "iat": now - 600}), "too old"},
		"of no time":          {logoutToken(p, map[string]any{"exp": nil, "iat": nil}), "too old"},
		"made at no time":     {logoutToken(p, map[string]any{"iat": nil}), "does not say when it was made"},
		"jti is a list":       {logoutToken(p, map[string]any{"jti": []string{"x"}}), "jti is not a string"},
		"sid is an object":    {logoutToken(p, map[string]any{"sid": map[string]any{"x": 1}}), "sid is not a string"},
		"alg none":            {"eyJhbGciOiJub25lIn0." + strings.Split(logoutToken(p, nil), ".")[1] + ".", "algorithm is not accepted"},
	} {
		t.Run(name, func(t *testing.T) {
			if status, body := post(t, s, "corp", tt.token); status != http.StatusBadRequest || !strings.Contains(body, tt.want) || !strings.Contains(body, `"invalid_request"`) {
				t.Errorf("got %d: %s, want 400 with %q", status, body, tt.want)
			}
		})
	}
	if len(s.ended) != 0 {
		t.Errorf("sessions were ended: %v", s.ended)
	}
}

// The attack: somebody who got hold of a logout token sends it again, after the configuration has
// changed and to another gateway, which has not seen it.
func TestLogoutTokenAgain(t *testing.T) {
	p := provider(t)
	before := newSet(t, at(p))
	made := time.Now().Add(-time.Hour).Truncate(time.Second)
	token := logoutToken(p, map[string]any{"iat": made.Unix()})
	if status, body := post(t, newSite(t, before), "corp", token); status != http.StatusOK {
		t.Fatalf("got %d: %s", status, body)
	}
	changed := at(p)
	changed.Label = "another"
	after := newSet(t, changed)
	after.Inherit(before)
	if status, body := post(t, newSite(t, after), "corp", token); status != http.StatusBadRequest || !strings.Contains(body, "used before") {
		t.Errorf("after a reload: got %d: %s", status, body)
	}
	elsewhere := newSite(t, newSet(t, at(p)))
	if status, body := post(t, elsewhere, "corp", token); status != http.StatusOK {
		t.Fatalf("elsewhere: got %d: %s", status, body)
	}
	l := elsewhere.logout
	if !l.Issued.Equal(made) {
		t.Errorf("the logout is of %s, want %s", l.Issued, made)
	}
	for name, tt := range map[string]struct {
		token string
		want  time.Time
	}{
		"a session":          {p.Token(map[string]any{"iat": made.Unix() + 7}), made.Add(7 * time.Second)},
		"one of no time":     {p.Token(map[string]any{"iat": nil}), time.Time{}},
		"one without a word": {"", time.Time{}},
	} {
		if got := l.Began(identity.Upstream{IDToken: identity.Secret(tt.token)}); !got.Equal(tt.want) {
			t.Errorf("%s began %s, want %s", name, got, tt.want)
		}
	}
	resp, err := http.PostForm(elsewhere.URL+"/auth/oidc/corp/backchannel", url.Values{"logout_token": {logoutToken(p, nil), logoutToken(p, nil)}})
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusBadRequest {
		t.Errorf("two tokens at once: got %s", resp.Status)
	}
}

func TestLogoutThatFailsMayBeSentAgain(t *testing.T) {
	p := provider(t)
	s := newSite(t, newSet(t, at(p)))
	token := logoutToken(p, nil)
	s.broken = errors.New("the store is gone")
	if status, body := post(t, s, "corp", token); status != http.StatusServiceUnavailable || strings.Contains(body, "store") {
		t.Errorf("got %d: %s, want 503 without the reason", status, body)
	}
	s.broken = nil
	if status, body := post(t, s, "corp", token); status != http.StatusOK {
		t.Errorf("again: got %d: %s", status, body)
	}
}
