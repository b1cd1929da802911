package oidc_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/internal/settings"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/oidc"
	"github.com/svc-gateway/svc/policy/identity/oidc/oidctest"
)

// certified starts the certified provider and a site that its users log in at.
func certified(t *testing.T) (*oidctest.Node, *site, *oidc.Set) {
	t.Helper()
	front := httptest.NewUnstartedServer(nil)
	address := "http://" + front.Listener.Addr().String()
	n, err := oidctest.StartNode(oidctest.NodeConfig{
		RedirectURIs: []string{address + "/auth/oidc/corp/callback"}, AfterLogout: []string{address + "/auth/login"},
		LogoutEndpoint: address + "/auth/oidc/corp/backchannel",
		Users:          map[string]map[string]any{"alice": {"groups": []string{"ops"}}, "bob": {"groups": []string{"none"}}},
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
	set := newSet(t, settings.Issuer{
		Name: "corp", URL: n.URL, ClientID: oidctest.ClientID, ClientSecret: "{env.SECRET}", Scopes: []string{"openid", "profile", "offline_access"},
		GroupsClaim: "groups", AdminGroups: []string{"ops"},
	})
	s := newSite(t, set)
	front.Config.Handler = s.Config.Handler
	front.Start()
	t.Cleanup(front.Close)
	s.URL = address
	return n, s, set
}

var (
	formAction = regexp.MustCompile(`<form[^>]* action="([^"]+)"`)
	formHidden = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)"`)
)

// fill follows the pages of the provider, with the name in each form, until they lead elsewhere.
func fill(t *testing.T, c *http.Client, n *oidctest.Node, address, name string) (*http.Response, string) {
	t.Helper()
	resp, err := c.Get(address)
	for range 5 {
		if err != nil {
			t.Fatal(err)
		}
		body, err2 := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err2 != nil {
			t.Fatal(err2)
		}
		action := formAction.FindStringSubmatch(string(body))
		if action == nil || !strings.HasPrefix(resp.Request.URL.String(), n.URL) {
			return resp, string(body)
		}
		form := url.Values{"login": {name}, "password": {"x"}, "logout": {"yes"}}
		for _, m := range formHidden.FindAllStringSubmatch(string(body), -1) {
			form.Set(m[1], m[2])
		}
		to, err2 := resp.Request.URL.Parse(strings.ReplaceAll(action[1], "&amp;", "&"))
		if err2 != nil {
			t.Fatal(err2)
		}
		resp, err = c.PostForm(to.String(), form)
	}
	t.Fatal("the provider's pages lead nowhere")
	return nil, ""
}

func TestCertifiedProvider(t *testing.T) {
	n, s, set := certified(t)
	c := browser(t)
	resp, page := fill(t, c, n, s.URL+"/auth/oidc/corp?next=/docs", "alice")
	a, ok := results.Load(page)
	if !ok {
		t.Fatalf("%s answers %s: %s", resp.Request.URL, resp.Status, page)
	}
	got := a.(answer)
	want := identity.External{
		Source: policy.SourceOIDC, Issuer: n.URL, Subject: "alice", Name: "alice", Role: policy.Admin, Groups: []string{"ops"},
	}
	if d := cmp.Diff(want, got.Who); d != "" || got.Refused != nil || got.Error != "" {
		t.Fatalf("who (-want +got):\n%s\n%+v", d, got)
	}
	if up := got.Up; up.Refresh == "" || up.SID == "" || got.Next != "/docs" {
		t.Errorf("got %+v", got)
	}

	// Refresh tokens rotate, and one that was used is no good.
	who, next, err := set.Renew(t.Context(), got.Up)
	if err != nil || who.Subject != "alice" || who.Role != policy.Admin || next.Refresh == got.Up.Refresh {
		t.Fatalf("renewing: got %+v, %+v, %v", who, next, err)
	}
	if who, next, err = set.Renew(t.Context(), next); err != nil || who.Subject != "alice" {
		t.Fatalf("renewing again: got %+v, %v", who, err)
	}
	if _, _, err := set.Renew(t.Context(), got.Up); !errors.Is(err, identity.ErrRevoked) {
		t.Errorf("renewing with a used token: got error %v, want ErrRevoked", err)
	}

	// To log out at the provider has it tell us.
	s.flow.PublicURL = s.URL
	end, _ := s.flow.LogoutURL(next)
	resp, page = fill(t, c, n, end, "")
	if resp.Request.URL.Path != "/auth/login" {
		t.Errorf("after the logout we are at %s: %s", resp.Request.URL, page)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := cmp.Diff([][3]string{{n.URL, "alice", got.Up.SID}}, s.ended); d != "" {
		t.Errorf("the logout that we were told of (-want +got):\n%s", d)
	}
}

func TestCertifiedProviderWithoutARole(t *testing.T) {
	n, s, _ := certified(t)
	_, page := fill(t, browser(t), n, s.URL+"/auth/oidc/corp", "bob")
	a, _ := results.Load(page)
	if got, ok := a.(answer); !ok || got.Refused == nil || got.Refused.Status != http.StatusForbidden {
		t.Errorf("got %+v: %s", a, page)
	}
}

func TestCertifiedProviderBearer(t *testing.T) {
	n, _, _ := certified(t)
	set := newSet(t, settings.Issuer{
		Name: "corp", URL: n.URL, Audience: []string{"api"}, AuthorizedParties: []string{oidctest.ClientID},
		GroupsClaim: "scope", UserGroups: []string{"api"},
	})
	r, err := http.NewRequest(http.MethodPost, n.URL+"/token", strings.NewReader("grant_type=client_credentials&scope=api&resource=https://api.example/"))
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth(oidctest.ClientID, oidctest.ClientSecret)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	token := decode(t, resp.Body)["access_token"].(string)
	p, outcome, err := send(t, set, token)
	if outcome != identity.Yes || p.User != oidctest.ClientID || p.Role != policy.User {
		t.Errorf("got %+v, %v, %v", p, outcome, err)
	}
}

// The way of a login is tried without a person, at the real provider.
func TestCertifiedProviderTrial(t *testing.T) {
	n, s, set := certified(t)
	got := set.ExplainLogin(t.Context(), "", s.URL+"/auth")
	if got.Error != "" || len(got.Steps) != 4 || !strings.Contains(got.Steps[3].Detail, "its secret are accepted") {
		t.Errorf("got %+v", got)
	}
	if got := set.ExplainLogin(t.Context(), "corp", "https://elsewhere.example/auth"); !strings.Contains(got.Error, "the redirect URI https://elsewhere.example/auth/oidc/corp/callback") {
		t.Errorf("a redirect URI that is not registered: got %+v", got)
	}
	wrong, err := oidc.New([]settings.Issuer{{Name: "corp", URL: n.URL, ClientID: oidctest.ClientID, ClientSecret: "{env.SECRET}", Scopes: []string{"openid"}, GroupsClaim: "groups"}},
		oidc.Options{Env: func(string) (string, bool) { return "wrong", true }})
	if err != nil {
		t.Fatal(err)
	}
	defer wrong.Close()
	if got := wrong.ExplainLogin(t.Context(), "corp", s.URL+"/auth"); !strings.Contains(got.Error, "does not accept client_id and client_secret") {
		t.Errorf("a wrong secret: got %+v", got)
	}
}
