package auth_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/caddymodule/auth/caddytest"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/oidc/oidctest"
)

// issuer starts an identity provider and returns it with the sections of settings that use it.
func issuer(t *testing.T) (*oidctest.Provider, string) {
	t.Helper()
	p := oidctest.Start()
	t.Cleanup(p.Close)
	t.Setenv("OIDC_SECRET", oidctest.ClientSecret)
	return p, "auth {\nmode token oidc\n}\noidc corp {\nissuer " + p.URL + "\nclient_id " + oidctest.ClientID +
		"\nclient_secret {env.OIDC_SECRET}\nuser_groups ops\n}"
}

func down(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }

func TestBearerJWT(t *testing.T) {
	p, settings := issuer(t)
	up := upstream(t)
	srv := caddytest.Start(t, caddytest.Config{Site: "svc_auth {\nidentity_headers\n}\nreverse_proxy " + up.URL, Svc: settings})
	jwt := "Bearer " + p.Token(nil)

	resp, body := srv.Send(srv.Request(http.MethodGet, "/", "", "Authorization", jwt))
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("got %s: %s", resp.Status, body)
	}
	h := seen(t, body)
	got := []string{h.Get("Remote-User"), h.Get("Remote-Role"), h.Get("Remote-Groups"), h.Get("Authorization")}
	if d := cmp.Diff([]string{"alice", "user", "ops", ""}, got); d != "" {
		t.Errorf("what the upstream is sent (-want +got):\n%s", d)
	}
	resp, body = srv.Send(srv.Request(http.MethodGet, "/", "", "Authorization", "Bearer "+p.Token(map[string]any{"aud": "billing"})))
	if resp.StatusCode != http.StatusUnauthorized || len(resp.Header.Values("WWW-Authenticate")) != 1 {
		t.Errorf("a token for another service: got %s, %q: %s", resp.Status, resp.Header.Values("WWW-Authenticate"), body)
	}

	disabled := true
	if _, err := srv.Admin().UpdateUser(t.Context(), "alice", identity.UpdateUser{Disabled: &disabled}); err != nil {
		t.Fatal(err)
	}
	if resp, body := srv.Send(srv.Request(http.MethodGet, "/", "", "Authorization", jwt)); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("a disabled account: got %s: %s", resp.Status, body)
	}
}

// Jobs of the same project have another sub on each branch, and are one account.
func TestJobsOfAProjectAreOneAccount(t *testing.T) {
	p, _ := issuer(t)
	settings := "auth {\nmode oidc\n}\noidc ci {\nissuer " + p.URL + "\naudience gw\nname_claim project_id\nuser_claim project_path\ngroups_claim ref_protected\nuser_groups true\n}"
	srv := caddytest.Start(t, caddytest.Config{Site: "svc_auth", Svc: settings})
	for sub, want := range map[string]string{"project_path:a/b:ref_type:branch:ref:main": "20", "project_path:a/b:ref_type:tag:ref:v1": "20"} {
		token := p.Token(map[string]any{"sub": sub, "aud": "gw", "project_id": want, "project_path": "a/b", "ref_protected": "true"})
		if resp, body := srv.Send(srv.Request(http.MethodGet, "/auth/whoami", "", "Authorization", "Bearer "+token)); resp.StatusCode != http.StatusOK || !strings.Contains(body, `"user":"a-b"`) {
			t.Errorf("%s: got %s: %s", sub, resp.Status, body)
		}
	}
	token := p.Token(map[string]any{"aud": "gw", "project_id": "21", "project_path": "a/b", "ref_protected": "true"})
	if resp, body := srv.Send(srv.Request(http.MethodGet, "/auth/whoami", "", "Authorization", "Bearer "+token)); resp.StatusCode != http.StatusForbidden {
		t.Errorf("another project that has the path now: got %s: %s", resp.Status, body)
	}
}

func TestJWTCannotTakeOverAName(t *testing.T) {
	p, settings := issuer(t)
	srv := caddytest.Start(t, caddytest.Config{Site: "svc_auth", Svc: settings})
	srv.AddUser("alice", policy.User, time.Time{})
	resp, body := srv.Send(srv.Request(http.MethodGet, "/auth/whoami", "", "Authorization", "Bearer "+p.Token(nil)))
	if resp.StatusCode != http.StatusForbidden {
		t.Errorf("got %s: %s", resp.Status, body)
	}
}

func TestIssuerDown(t *testing.T) {
	p, settings := issuer(t)
	p.Override("/.well-known/openid-configuration", http.HandlerFunc(down))
	srv := caddytest.Start(t, caddytest.Config{Site: "svc_auth", Svc: settings})
	status := func() int {
		resp, _ := srv.Send(srv.Request(http.MethodGet, "/auth/whoami", "", "Authorization", "Bearer "+p.Token(nil)))
		return resp.StatusCode
	}
	if got := status(); got != http.StatusServiceUnavailable {
		t.Errorf("while the provider is down: got %d, want 503", got)
	}
	if resp, body := srv.Do(http.MethodGet, "/auth/whoami", ""); resp.StatusCode != http.StatusOK {
		t.Errorf("a token while the provider is down: got %s: %s", resp.Status, body)
	}
	p.Override("/.well-known/openid-configuration", nil)
	srv.Eventually("the provider is asked again", func() bool { return status() == http.StatusOK })

	p.Override("/.well-known/openid-configuration", http.HandlerFunc(down))
	srv.Load("svc_auth")
	if got := status(); got != http.StatusOK {
		t.Errorf("after a reload while the provider is down: got %d, want 200", got)
	}
	var who struct{ User, Source string }
	_, body := srv.Send(srv.Request(http.MethodGet, "/auth/whoami", "", "Authorization", "Bearer "+p.Token(nil)))
	if err := json.Unmarshal([]byte(body), &who); err != nil || who.User != "alice" || who.Source != policy.SourceOIDC {
		t.Errorf("got %s, %v", body, err)
	}
}
