package oidc_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/oidc"
	"github.com/svc-gateway/svc/policy/identity/oidc/oidctest"
)

var _ identity.Renewer = (*oidc.Set)(nil)

// loggedIn returns what a session of alice is renewed with.
func loggedIn(t *testing.T, change func(*settings.Issuer)) (*oidctest.Provider, *oidc.Set, identity.Upstream) {
	t.Helper()
	p := provider(t)
	i := at(p)
	if change != nil {
		change(&i)
	}
	set := newSet(t, i)
	return p, set, visit(t, browser(t), newSite(t, set).URL+"/auth/oidc/corp").Up
}

func TestRenew(t *testing.T) {
	p, set, up := loggedIn(t, nil)
	p.SetUser(map[string]any{"sub": "1", "preferred_username": "alice", "groups": []string{"guests"}})
	first := up.Refresh
	for range 3 { // each with the token of the one before
		who, next, err := set.Renew(t.Context(), up)
		if err != nil {
			t.Fatal(err)
		}
		if who.Role != policy.Readonly || who.Subject != "1" || next.Refresh == up.Refresh || next.IDToken == "" || !next.Due.After(time.Now()) {
			t.Errorf("got %+v, %+v", who, next)
		}
		up = next
	}
	up.Refresh = first
	if _, _, err := set.Renew(t.Context(), up); !errors.Is(err, identity.ErrRevoked) {
		t.Errorf("with a used refresh token: got error %v, want ErrRevoked", err)
	}
}

func TestRenewEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*oidctest.Provider, *identity.Upstream)
		want   error // nil: technical
	}{
		"refused": {func(p *oidctest.Provider, _ *identity.Upstream) { p.RefuseRefresh() }, identity.ErrRevoked},
		"no role any more": {func(p *oidctest.Provider, _ *identity.Upstream) {
			p.SetUser(map[string]any{"sub": "1", "groups": []string{"x"}})
		}, identity.ErrNoRole},
		"somebody else":     {func(p *oidctest.Provider, _ *identity.Upstream) { p.SetUser(map[string]any{"sub": "2"}) }, identity.ErrRevoked},
		"provider is gone":  {func(_ *oidctest.Provider, u *identity.Upstream) { u.Issuer = "https://gone.example" }, identity.ErrRevoked},
		"provider is down":  {func(p *oidctest.Provider, _ *identity.Upstream) { p.Override("/token", http.NotFoundHandler()) }, nil},
		"client is unknown": {func(p *oidctest.Provider, _ *identity.Upstream) { p.Override("/token", invalidClient()) }, nil},
		"bad ID token": {func(p *oidctest.Provider, _ *identity.Upstream) {
			p.Override("/token", reply(map[string]any{"access_token": "a", "token_type": "Bearer", "id_token": "x"}))
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p, set, up := loggedIn(t, nil)
			tt.change(p, &up)
			_, _, err := set.Renew(t.Context(), up)
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("got error %v, want %v", err, tt.want)
			}
			if tt.want == nil && (errors.Is(err, identity.ErrRevoked) || errors.Is(err, identity.ErrNoRole)) {
				t.Errorf("got error %v, want a technical one", err)
			}
		})
	}
}

func invalidClient() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"error":"invalid_client"}`))
	})
}

func TestRenewWithoutIDToken(t *testing.T) {
	p, set, up := loggedIn(t, nil)
	p.Override("/token", reply(map[string]any{"access_token": "a", "token_type": "Bearer"}))
	who, next, err := set.Renew(t.Context(), up)
	if err != nil || who.Role != policy.Admin || who.Name != "alice" {
		t.Errorf("got %+v, %v, want what the ID token of the login says", who, err)
	}
	if next.Refresh != up.Refresh || next.IDToken != up.IDToken {
		t.Error("a refresh token that is not replaced stays")
	}
}

func TestRenewAsksUserInfo(t *testing.T) {
	p, set, up := loggedIn(t, func(i *settings.Issuer) { i.UserInfo = true })
	p.Override("/token", reply(map[string]any{"access_token": "a", "token_type": "Bearer"}))
	p.SetUser(map[string]any{"sub": "1", "preferred_username": "alice", "groups": []string{"staff"}})
	if who, _, err := set.Renew(t.Context(), up); err != nil || who.Role != policy.User {
		t.Errorf("got %+v, %v", who, err)
	}
}

// A provider that rotates refresh tokens takes the used one back. What it sent for it must not
// get lost because something else failed afterwards.
func TestRenewAfterTroubleBehindTheTokenEndpoint(t *testing.T) {
	p, set, up := loggedIn(t, func(i *settings.Issuer) { i.UserInfo = true })
	p.Override("/userinfo", http.NotFoundHandler())
	if _, _, err := set.Renew(t.Context(), up); err == nil || errors.Is(err, identity.ErrRevoked) {
		t.Fatalf("got error %v, want a technical one", err)
	}
	p.Override("/userinfo", nil)
	if who, _, err := set.Renew(t.Context(), up); err != nil || who.Name != "alice" {
		t.Errorf("got %+v, %v", who, err)
	}
}

// A session without a refresh token follows the settings all the same: other groups have the
// role, or the provider is not one any more.
func TestRenewWithoutRefreshToken(t *testing.T) {
	p := provider(t)
	up := identity.Upstream{Issuer: p.URL, Subject: "1", IDToken: identity.Secret(p.Token(map[string]any{"exp": 1000}))}
	for name, tt := range map[string]struct {
		change func(*settings.Issuer)
		want   policy.Role
		err    error
	}{
		"the same":             {func(*settings.Issuer) {}, policy.Admin, nil},
		"another role":         {func(i *settings.Issuer) { i.AdminGroups, i.ReadonlyGroups = nil, []string{"ops"} }, policy.Readonly, nil},
		"no role":              {func(i *settings.Issuer) { i.AdminGroups = []string{"root"} }, "", identity.ErrNoRole},
		"another provider":     {func(i *settings.Issuer) { i.URL = "https://other.example" }, "", identity.ErrRevoked},
		"groups from userinfo": {func(i *settings.Issuer) { i.UserInfo = true }, "", identity.ErrRevoked},
	} {
		t.Run(name, func(t *testing.T) {
			i := at(p)
			tt.change(&i)
			who, next, err := newSet(t, i).Renew(t.Context(), up)
			if who.Role != tt.want || !errors.Is(err, tt.err) || err == nil && !next.Due.After(time.Now()) {
				t.Errorf("got %+v, %+v, %v", who, next, err)
			}
		})
	}
	if n := p.Requests("/token"); n != 0 {
		t.Errorf("the provider was asked %d times", n)
	}
}
