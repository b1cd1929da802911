package settings_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/internal/settings"
)

func TestRemoteSandboxSettings(t *testing.T) {
	const key = `"daytona_key": "{env.KEY}"`
	for _, tc := range []struct{ name, text, want string }{
		{"an unknown provider", `{"sandbox": {"provider": "daytonna"}}`, `sandbox.provider: "daytonna" is not a sandbox; did you mean daytona?`},
		{"no pair", `{"sandbox": {"agents": ["core"]}}`, `"core" is not of the form agent=sandbox`},
		{"an unknown choice", `{"sandbox": {"agents": ["core=docker"]}}`, `"docker" is not a sandbox`},
		{"twice", `{"sandbox": {` + key + `, "agents": ["core=daytona", "core=local"]}}`, `core is listed twice`},
		{"no key", `{"sandbox": {"provider": "daytona"}}`, `sandbox.daytona_key is missing: sandboxes of daytona need a key`},
		{"no key for an agent", `{"sandbox": {"agents": ["core=runloop"]}}`, `sandbox.runloop_key is missing`},
		{"no secret", `{"sandbox": {"provider": "modal", "modal_token_id": "ak"}}`, `sandbox.modal_token_secret is missing`},
		{"no id", `{"sandbox": {"modal_token_secret": "{env.KEY}"}}`, `sandbox.modal_token_id is missing`},
		{"the key itself", `{"sandbox": {"daytona_key": "dtn_123"}}`, `never the secret itself`},
		{"in clear", `{"sandbox": {"daytona_url": "http://sandboxes.example.com/api"}}`, `sandbox.daytona_url: this is not an https address: the key would go over the network in clear`},
		{"a private address in clear", `{"sandbox": {"runloop_url": "http://10.0.0.1"}}`, `plain http is for servers on this host`},
		{"a name like this host's", `{"sandbox": {"runloop_url": "http://127.0.0.1.example.com"}}`, `plain http is for servers on this host`},
		{"a user", `{"sandbox": {"runloop_url": "https://user:pass@example.com"}}`, `without a user`},
		{"no address", `{"sandbox": {"modal_url": "modal.com"}}`, `sandbox.modal_url: this is not an address`},
		{"no network at runloop", `{"sandbox": {"provider": "runloop", "runloop_key": "{env.KEY}", "netns": 1}}`, `sandbox.runloop_network_policy is missing`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, _, err := settings.Resolve(settings.Layers{File: file(t, tc.text)})
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "dtn_123") || strings.Contains(err.Error(), "pass") {
				t.Errorf("got %v, want an error with %q", err, tc.want)
			}
		})
	}
}

func TestRemoteSandboxes(t *testing.T) {
	vars := map[string]string{
		"SVC_SANDBOX_PROVIDER": "runloop", "SVC_SANDBOX_AGENTS": "core=daytona,audit=local", "SVC_SANDBOX_RUNLOOP_KEY": "rl-0123456789", "DTN": "dtn-0123456789",
		"SVC_SANDBOX_DAYTONA_URL": "http://[::1]:3000/api",
	}
	s, values, err := settings.Resolve(settings.Layers{Env: env(vars), File: file(t, `{"sandbox": {"daytona_key": "{env.DTN}"}}`)})
	if err != nil {
		t.Fatal(err)
	}
	got := []string{s.Sandbox.For("core"), s.Sandbox.For("audit"), s.Sandbox.For("quick")}
	if d := cmp.Diff([]string{"daytona", "local", "runloop"}, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if d := cmp.Diff([]string{"daytona", "runloop"}, s.Sandbox.Remote()); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if err := s.CheckEnvironment(env(vars)); err != nil {
		t.Error(err)
	}
	// Redactors know the keys, and no list of settings has them.
	if secrets := s.Secrets(env(vars)); !slices.Contains(secrets, "rl-0123456789") || !slices.Contains(secrets, "dtn-0123456789") {
		t.Errorf("got %d secrets", len(secrets))
	}
	for _, v := range values {
		if strings.Contains(v.Value, "0123456789") {
			t.Errorf("%s is shown as %s", v.Key, v.Value)
		}
	}
	delete(vars, "DTN")
	if err := s.CheckEnvironment(env(vars)); err == nil || !strings.Contains(err.Error(), "sandbox.daytona_key: DTN is not set") {
		t.Errorf("got %v", err)
	}
}
