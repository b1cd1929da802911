package app_test

import (
	"context"
	"encoding/json"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/policy/identity"
	"github.com/svc-gateway/svc/policy/identity/oidc/oidctest"
)

// issuers is the app's JSON for the users of p.
func issuers(t *testing.T, p *oidctest.Provider) string {
	t.Helper()
	t.Setenv("OIDC_SECRET", oidctest.ClientSecret)
	doc, err := json.Marshal(map[string]any{
		"auth": map[string]any{"mode": []string{"token", "oidc"}},
		"oidc": []any{map[string]any{
			"name": "corp", "issuer": p.URL, "client_id": oidctest.ClientID, "client_secret": "{env.OIDC_SECRET}", "user_groups": "ops",
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(doc)
}

// What keeps people out stands where an operator looks.
func TestHealthOfTheSources(t *testing.T) {
	p := oidctest.Start()
	defer p.Close()
	home(t)
	doc := strings.Replace(issuers(t, p), `"issuer":"`+p.URL, `"issuer":"`+p.URL+`/typo`, 1)
	doc = strings.Replace(doc, `["token","oidc"]`, `["token","oidc","ldap"]`, 1)
	doc = strings.TrimSuffix(doc, "}") + `,"ldap":{"url":["ldap://127.0.0.1:1"],"base_dn":"dc=x","user_groups":["staff"]}}`
	if err := load(t, `"probe": {"answer": "good"}, "svc": `+doc); err != nil {
		t.Fatal(err)
	}
	if _, err := probed.Directory().Authenticate(t.Context(), "alice", "x"); err == nil {
		t.Error("a directory that is not there let somebody in")
	}
	deadline := time.Now().Add(10 * time.Second)
	for probed.Health().Parts["oidc.corp"].Reason == "" && time.Now().Before(deadline) {
		runtime.Gosched()
	}
	got := probed.Health()
	for part, want := range map[string]string{"oidc.corp": "oidc degraded issuer", "ldap": "ldap degraded unreachable", "bus": "memory ok "} {
		if p := got.Parts[part]; p.Kind+" "+p.Status+" "+p.Reason != want || p.Since.IsZero() {
			t.Errorf("%s: got %+v, want %s", part, p, want)
		}
	}
	if got.Status != "degraded" {
		t.Errorf("the whole is %s", got.Status)
	}
}

func TestOIDCTestOnTheSocket(t *testing.T) {
	p := oidctest.Start()
	defer p.Close()
	h := home(t)
	if err := load(t, `"svc": `+issuers(t, p)); err != nil {
		t.Fatal(err)
	}
	try := func(in any) (r identity.Report, err error) {
		return r, cli.NewClient(h).Do(context.Background(), http.MethodPost, "/oidc/test", in, &r)
	}
	names := func(r identity.Report) []string {
		var all []string
		for _, s := range r.Steps {
			all = append(all, s.Name)
		}
		return all
	}
	token := p.Token(nil)
	r, err := try(map[string]string{"token": token})
	if err != nil || r.Error != "" || r.User != "alice" || r.Role != policy.User {
		t.Errorf("got %+v, %v", r, err)
	}
	all := []string{"form", "issuer", "header", "keys", "signature", "times", "audience", "kind", "userinfo", "user", "role"}
	if d := cmp.Diff(all, names(r)); d != "" {
		t.Errorf("steps (-want +got):\n%s", d)
	}
	if text, _ := json.Marshal(r); strings.Contains(string(text), strings.Split(token, ".")[2]) {
		t.Errorf("the report repeats the token: %s", text)
	}
	r, err = try(map[string]string{"token": p.Token(map[string]any{"aud": "billing"})})
	if last := r.Steps[len(r.Steps)-1]; err != nil || last.Name != "audience" || last.Error != r.Error || !strings.Contains(r.Error, "billing") {
		t.Errorf("for another service: got %+v, %v", r, err)
	}
	r, err = try(map[string]string{"token": p.Token(map[string]any{"iss": "https://x.example"})})
	if err != nil || !strings.Contains(r.Error, `comes from "https://x.example", and the providers here are `+p.URL) {
		t.Errorf("of another issuer: got %+v, %v", r, err)
	}
	if _, err := try([]string{"x"}); err == nil || !strings.Contains(err.Error(), "The body must be") {
		t.Errorf("got %v", err)
	}
	if err := load(t, `"svc": {}`); err != nil {
		t.Fatal(err)
	}
	if _, err := try(map[string]string{"token": token}); !problem.HasCode(err, "no_issuer") {
		t.Errorf("got %v, want no_issuer", err)
	}
	if err := caddy.Stop(); err != nil {
		t.Fatal(err)
	}
}

func TestIssuers(t *testing.T) {
	p := oidctest.Start()
	defer p.Close()
	home(t)
	if err := load(t, `"probe": {}, "svc": {}`); err != nil {
		t.Fatal(err)
	}
	if probed.Issuers() != nil {
		t.Error("there are providers without the mode oidc")
	}
	if err := load(t, `"probe": {}, "svc": `+issuers(t, p)); err != nil {
		t.Fatal(err)
	}
	if got := probed.Issuers().Buttons(); len(got) != 1 || got[0].Name != "corp" {
		t.Errorf("got %v", got)
	}
	if got := probed.Settings().Issuers()[0].ClientSecret; got != "{env.OIDC_SECRET}" {
		t.Errorf("got %q for a secret, want the place where it is", got)
	}
	t.Setenv("OIDC_SECRET", "")
	doc := `"svc": {"auth": {"mode": "oidc"}, "oidc": [{"name": "a", "issuer": "https://a.example", "client_id": "b", "client_secret": "{env.OIDC_SECRET}", "user_groups": "*"}]}`
	if err := load(t, doc); err == nil || !strings.Contains(err.Error(), "oidc a: client_secret: OIDC_SECRET is not set") {
		t.Errorf("got error %v", err)
	}
	if err := caddy.Stop(); err != nil {
		t.Fatal(err)
	}
}
