package oidc_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/svc-gateway/svc/internal/health"
	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy/identity/oidc"
)

func TestHealth(t *testing.T) {
	p := provider(t)
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(secure.Close)
	for name, tt := range map[string]struct{ url, want, hint string }{
		"it works":             {p.URL, "", ""},
		"another identifier":   {p.URL + "/", oidc.NoIssuer, "exactly the provider's own"},
		"nothing there":        {p.URL + "/realms/none", oidc.NoIssuer, "exactly the provider's own"},
		"nobody listens":       {"http://127.0.0.1:1", health.Unreachable, "refused"},
		"TLS to plain text":    {strings.Replace(p.URL, "http:", "https:", 1), health.NotTLS, "is it TLS"},
		"an unknown authority": {secure.URL, health.Certificate, "certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			i := at(p)
			i.URL = tt.url
			s := newSet(t, i)
			if h := s.Health(); len(h) != 1 || h[0].Name != "corp" || h[0].Reason != "" || !h[0].Since.IsZero() {
				t.Errorf("before it was asked: got %+v", h)
			}
			err := good(t, s, p.Token(map[string]any{"iss": tt.url}))
			if h := s.Health(); h[0].Reason != tt.want || h[0].Since.IsZero() {
				t.Errorf("got %+v for %v, want %q", h[0], err, tt.want)
			}
			if tt.hint != "" && (err == nil || !strings.Contains(err.Error(), tt.hint)) {
				t.Errorf("got %v, want an error with %q", err, tt.hint)
			}
		})
	}
}

// A wrong secret is the operator's to know, at the first login.
func TestHealthOfTheClient(t *testing.T) {
	p := provider(t)
	var mu sync.Mutex
	var told []error
	secret := "wrong"
	set, err := oidc.New([]settings.Issuer{at(p)}, oidc.Options{
		Env: func(string) (string, bool) { return secret, true },
		Trouble: func(_ string, err error) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, err)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(set.Close)
	s := newSite(t, set)
	for range 2 {
		c := browser(t)
		_, back := ways(t, c, s.URL+"/auth/oidc/corp")
		if got := visit(t, c, back.String()); got.Error == "" {
			t.Fatalf("got %+v, want a technical error", got)
		}
	}
	if h := set.Health(); h[0].Reason != health.Authentication {
		t.Errorf("got %+v", h)
	}
	if mu.Lock(); len(told) != 1 || !errors.Is(told[0], oidc.ErrClient) || strings.Contains(told[0].Error(), secret+"-") {
		t.Errorf("told %v, want it once", told)
	}
	mu.Unlock()
	p.Override("/token", reply(map[string]any{"access_token": "a", "token_type": "Bearer", "id_token": p.Token(nil)}))
	c := browser(t)
	_, back := ways(t, c, s.URL+"/auth/oidc/corp")
	visit(t, c, back.String())
	if h := set.Health(); h[0].Reason != "" {
		t.Errorf("when it takes the secret: got %+v", h)
	}
}
