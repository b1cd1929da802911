package auth_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/caddymodule/auth/caddytest"
	"github.com/svc-gateway/svc/policy"
)

// TestPolicyMatcher sends people of different roles to different handlers.
func TestPolicyMatcher(t *testing.T) {
	srv := caddytest.Start(t, caddytest.Config{Site: `svc_auth
@changes svc_policy request.method == "POST" and not may("mutate")
@admins svc_policy ` + "`principal.role == \"admin\"`" + `
respond @changes "no" 403
respond @admins "admins only"
respond "others"`})
	tokens := map[string]string{
		"admin":    srv.Token,
		"user":     srv.AddUser("ursula", policy.User, time.Time{}),
		"readonly": srv.AddUser("rob", policy.Readonly, time.Time{}),
	}
	got := map[string]string{}
	for role, token := range tokens {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			_, body := srv.Send(srv.Request(method, "/x", "", "Authorization", "Bearer "+token))
			got[method+" "+role] = body
		}
	}
	_, got["GET /health"] = srv.Send(srv.Request(http.MethodGet, "/health", ""))
	want := map[string]string{
		"GET admin": "admins only", "POST admin": "admins only",
		"GET user": "others", "POST user": "others",
		"GET readonly": "others", "POST readonly": "no",
		"GET /health": "others",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("answers (-want +got):\n%s", d)
	}
}

// The attack: a path that is none of what the expression guards, and that the server behind takes
// for one that is.
func TestPolicyMatcherPaths(t *testing.T) {
	srv := caddytest.Start(t, caddytest.Config{Site: `svc_auth
@open svc_policy request.path startsWith "/open/"
@guarded svc_policy request.path startsWith "/guarded/"
respond @guarded "guarded"
respond @open "open"
respond "other"`})
	got := map[string]string{}
	for _, path := range []string{
		"/open/x", "/open/../guarded/x", "/open/%2e%2e/guarded/x", "/open/..%2Fguarded/x", "//guarded/x", "/./guarded/x",
		"/%2Fguarded/x", "/guarded/../open/x", "/guarded/", "/guarded", "/open%2Fx",
	} {
		_, got[path] = srv.Do(http.MethodGet, path, "")
	}
	want := map[string]string{
		"/open/x": "open", "/open/../guarded/x": "guarded", "/open/%2e%2e/guarded/x": "guarded", "/open/..%2Fguarded/x": "guarded", "//guarded/x": "guarded",
		"/./guarded/x": "guarded", "/%2Fguarded/x": "guarded", "/guarded/../open/x": "open", "/guarded/": "guarded", "/guarded": "other", "/open%2Fx": "open",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("answers (-want +got):\n%s", d)
	}
}

// TestPolicyMatcherWithoutAuth holds that a matcher which nobody stands in front of is an
// error: not matching could open what it guards.
func TestPolicyMatcherWithoutAuth(t *testing.T) {
	for name, site := range map[string]string{
		"no svc_auth":         "@others svc_policy `not may(\"admin\")`\nrespond @others 403\nrespond secret",
		"matched by svc_auth": "@others svc_policy `not may(\"admin\")`\nsvc_auth @others\nrespond secret",
		"an evaluation error": "svc_auth\n@others svc_policy `principal.groups[3] == \"x\"`\nrespond @others 403\nrespond secret",
	} {
		t.Run(name, func(t *testing.T) {
			srv := caddytest.Start(t, caddytest.Config{Site: site})
			if resp, body := srv.Do(http.MethodGet, "/", ""); resp.StatusCode != http.StatusInternalServerError || strings.Contains(body, "secret") {
				t.Errorf("got %s %q, want 500", resp.Status, body)
			}
		})
	}
}

func TestPolicyMatcherMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"@a svc_policy":                                           "the expression is missing",
		"@a svc_policy principal.rolle == 1":                      "rolle",
		"@a svc_policy `may(\"fly\")`":                            "unknown action",
		"@a svc_policy true {\nx\n}":                              "no block",
		"@a {\nsvc_policy true\nsvc_policy `may(\"mutate\")`\n}":  "twice",
		"@a svc_policy `principal.user`":                          "bool",
		"@a svc_policy `principal.role == \"admin\" and request`": "mismatched types",
	} {
		_, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(":2280 {\n"+text+"\nrespond @a x\n}\n"), map[string]any{"filename": "Caddyfile"})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "Caddyfile:") {
			t.Errorf("%s: got %v, want a place and %q", text, err, want)
		}
	}
}
