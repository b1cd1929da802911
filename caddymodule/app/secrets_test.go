package app

import (
	"testing"

	"github.com/svc-gateway/svc/internal/settings"
)

func TestKeySecrets(t *testing.T) {
	env := map[string]string{"MODEL_KEY": "tiger-lion-42", "REMOTE_KEY": "elephant-ape", "SHORT": "x", "BIND": "ant-and-bear", "CLIENT": "crow-and-dove", "BUS": "eel-and-frog", "WATCH": "goat-and-hen"}
	s := keySecrets(settings.Settings{
		Model: settings.Model{APIKeyEnv: "MODEL_KEY"},
		LDAP:  settings.LDAP{BindPassword: "{env.BIND}"},
		Bus:   settings.Bus{Password: "{env.BUS}", SentinelPassword: "{env.WATCH}"},
		Lists: settings.Lists{
			"async_subagents": []settings.AsyncSubagent{{APIKeyEnv: "REMOTE_KEY"}, {APIKeyEnv: "SHORT"}, {}},
			"oidc":            []settings.Issuer{{ClientSecret: "{env.CLIENT}"}, {ClientSecret: "{env.NONE}"}},
		},
	}, func(name string) (string, bool) { v, ok := env[name]; return v, ok })
	if got, want := s.Redact("tiger-lion-42 elephant-ape x MODEL_KEY ant-and-bear crow-and-dove eel-and-frog goat-and-hen"), "REDACTED REDACTED x MODEL_KEY REDACTED REDACTED REDACTED REDACTED"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
