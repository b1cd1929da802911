package settings_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/internal/settings"
)

func TestModels(t *testing.T) {
	s, err := modelsOf(t, `{
		"model": {"provider": "anthropic", "name": "claude-opus-4-6", "api_key_env": "ANTHROPIC_API_KEY", "thinking": "adaptive", "fallback": ["local"]},
		"models": [
			{"name": "local", "provider": "openai", "base_url": "http://127.0.0.1:11434/v1", "model": "qwen3", "context_tokens": 32000},
			{"name": "deep", "provider": "anthropic", "model": "claude-sonnet-4-5", "api_key_env": "ANTHROPIC_API_KEY", "thinking": "4096", "fallback": ["default", "local"]}
		]
	}`)
	if err != nil {
		t.Fatal(err)
	}
	all := s.NamedModels()
	if diff := cmp.Diff([]string{"default", "local"}, all[1].Fallback); diff != "" {
		t.Error(diff)
	}
	for _, tt := range []struct{ got, want string }{
		{s.Model.Address(), "https://api.anthropic.com"},
		{all[0].Address(), "http://127.0.0.1:11434/v1"},
		{settings.Model{Provider: "openai"}.Address(), "https://api.openai.com/v1"},
		{settings.Model{Provider: "demo"}.Address(), ""},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
	if n, adaptive := all[1].ThinkingTokens(); n != 4096 || adaptive {
		t.Errorf("got %d, %v, want 4096 tokens", n, adaptive)
	}
	if n, adaptive := s.Model.ThinkingTokens(); n != 0 || !adaptive {
		t.Errorf("got %d, %v, want adaptive", n, adaptive)
	}
}

func TestModelsThatCannotBe(t *testing.T) {
	for _, tt := range []struct{ name, doc, says string }{
		{"no model", `{"models": [{"name": "a", "provider": "openai"}]}`, "models[0]: model is missing: provider openai needs"},
		{"no provider", `{"models": [{"name": "a", "model": "x"}]}`, "provider is missing: write openai, anthropic or demo"},
		{"default", `{"models": [{"name": "default", "provider": "demo"}]}`, "use another name"},
		{"twice", `{"models": [{"name": "a", "provider": "demo"}, {"name": "a", "provider": "demo"}]}`, `"a" is used twice`},
		{"of the default one", `{"model": {"provider": "openai", "name": "qwen3"}, "models": [{"name": "qwen3", "provider": "demo"}]}`, "models: qwen3.name: that is how the default model is called"},
		{"demo with a server", `{"models": [{"name": "a", "provider": "demo", "base_url": "http://x"}]}`, "the demo model has no server"},
		{"fallback on nobody", `{"models": [{"name": "a", "provider": "openai", "model": "x", "fallback": ["b"]}]}`, `models: a.fallback: there is no model "b"`},
		{"fallback on itself", `{"models": [{"name": "a", "provider": "openai", "model": "x", "fallback": ["a"]}]}`, "cannot take its own place"},
		{"fallback on the demo model", `{"model": {"provider": "openai", "name": "x", "fallback": ["d"]}, "models": [{"name": "d", "provider": "demo"}]}`, "model.fallback: d is the demo model"},
		{"thinking", `{"model": {"thinking": "much"}}`, `model.thinking: "much" is neither off nor adaptive`},
		{"thinking elsewhere", `{"model": {"provider": "openai", "name": "x", "thinking": "adaptive"}}`, "model.thinking is for provider anthropic"},
		{"a provider's key elsewhere", `{"model": {"provider": "openai", "name": "x", "base_url": "https://gateway.example.com/v1", "api_key_env": "OPENAI_API_KEY"}}`, "model.api_key_env: OPENAI_API_KEY is the key for https://api.openai.com"},
		{"a provider's key in the clear", `{"model": {"provider": "anthropic", "name": "x", "base_url": "http://api.anthropic.com", "api_key_env": "ANTHROPIC_API_KEY"}}`, "ANTHROPIC_API_KEY is the key for https://api.anthropic.com"},
		{"another provider's key", `{"models": [{"name": "a", "provider": "openai", "model": "x", "api_key_env": "ANTHROPIC_API_KEY"}]}`, "api_key_env: ANTHROPIC_API_KEY is the key for https://api.anthropic.com"},
		{"one key for two servers", `{"model": {"provider": "openai", "name": "x", "base_url": "https://one.example.com/v1", "api_key_env": "KEY"},
			"models": [{"name": "a", "provider": "openai", "model": "y", "base_url": "https://two.example.com/v1", "api_key_env": "KEY"}]}`, "models: a.api_key_env: KEY is sent to https://one.example.com by default, and a key belongs to one server"},
		{"one key for two ports", `{"models": [{"name": "a", "provider": "openai", "model": "x", "base_url": "http://h:1/v1", "api_key_env": "KEY"},
			{"name": "b", "provider": "openai", "model": "x", "base_url": "http://h:2/v1", "api_key_env": "KEY"}]}`, "a key belongs to one server"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := modelsOf(t, tt.doc); err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v, want %q", err, tt.says)
			}
		})
	}
}

func TestModelsKeysHaveToBeThere(t *testing.T) {
	s, err := modelsOf(t, `{"models": [{"name": "a", "provider": "anthropic", "model": "x", "api_key_env": "SOME_KEY"}]}`)
	if err != nil {
		t.Fatal(err)
	}
	only := func(set string) func(string) (string, bool) {
		return func(string) (string, bool) { return set, set != "" }
	}
	if err := s.CheckEnvironment(only("")); err == nil || !strings.Contains(err.Error(), "named_model a: api_key_env: SOME_KEY is not set") {
		t.Errorf("got %v", err)
	}
	if err := s.CheckEnvironment(only("k")); err != nil {
		t.Error(err)
	}
	if got := s.Secrets(only("sk-x")); !cmp.Equal(got, []string{"sk-x"}) {
		t.Errorf("got %v, want the key among the secrets", got)
	}
}

func modelsOf(t *testing.T, doc string) (settings.Settings, error) {
	t.Helper()
	s, _, err := settings.Resolve(settings.Layers{File: file(t, doc)})
	return s, err
}
