package settings_test

import (
	"strings"
	"testing"
)

// Whatever sends it, a key goes to one server, and a provider's own key to the provider.
func TestKeysGoToOneServer(t *testing.T) {
	const own = `"model": {"provider": "openai", "name": "x", "base_url": "https://one.example.com/v1", "api_key_env": "KEY"}, `
	const remote = `{"name": "a", "url": "https://two.example.com", "assistant_id": "x", "api_key_env": "KEY"}`
	for _, tt := range []struct{ name, doc, says string }{
		{
			"a provider's, embeddings", `{"memory": {"embeddings_url": "https://two.example.com/v1", "embeddings_model": "m", "embeddings_key": "{env.OPENAI_API_KEY}"}}`,
			"memory.embeddings_key: OPENAI_API_KEY is the key for https://api.openai.com, and memory.embeddings_url is another server",
		},
		{
			"a provider's, classifier", `{"classifier": {"url": "https://two.example.com/x", "api_key": "{env.ANTHROPIC_API_KEY}"}}`,
			"classifier.api_key: ANTHROPIC_API_KEY is the key for https://api.anthropic.com, and classifier.url is another server",
		},
		{
			"a provider's, remote agent", `{"async_subagents": [` + strings.Replace(remote, "KEY", "OPENAI_API_KEY", 1) + `]}`,
			"async_subagents: a.api_key_env: OPENAI_API_KEY is the key for https://api.openai.com, and url is another server",
		},
		{
			"a provider's, tools", `{"mcp_servers": [{"name": "a", "url": "https://two.example.com/mcp", "key": "{env.OPENAI_API_KEY}"}]}`,
			"mcp_servers: a.key: OPENAI_API_KEY is the key for https://api.openai.com",
		},
		{
			"embeddings", `{` + own + `"memory": {"embeddings_url": "https://two.example.com/v1", "embeddings_model": "m", "embeddings_key": "{env.KEY}"}}`,
			"memory.embeddings_key: KEY is sent to https://one.example.com by default, and a key belongs to one server: put that of https://two.example.com into a variable",
		},
		{"classifier", `{` + own + `"classifier": {"url": "https://two.example.com/x", "api_key": "{env.KEY}"}}`, "classifier.api_key: KEY is sent to https://one.example.com by default"},
		{"remote agent", `{` + own + `"async_subagents": [` + remote + `]}`, "async_subagents: a.api_key_env: KEY is sent to https://one.example.com by default"},
		{"tools", `{"async_subagents": [` + remote + `], "mcp_servers": [{"name": "b", "url": "https://three.example.com/mcp", "key": "{env.KEY}"}]}`, "mcp_servers: b.key: KEY is sent to https://two.example.com by a"},
		{
			"a file", `{"classifier": {"url": "https://two.example.com/x", "api_key": "{file./key}"}, "mcp_servers": [{"name": "b", "url": "https://three.example.com/mcp", "key": "{file./key}"}]}`,
			"{file./key} is sent to https://two.example.com by classifier, and a key belongs to one server: put that of https://three.example.com into a file of its own",
		},
		{"one server", `{"model": {"provider": "openai", "name": "x", "api_key_env": "OPENAI_API_KEY"},
			"memory": {"embeddings_url": "https://api.openai.com/v1", "embeddings_model": "m", "embeddings_key": "{env.OPENAI_API_KEY}"}}`, ""},
		{"a key of its own each", `{` + own + `"classifier": {"url": "https://two.example.com/x", "api_key": "{env.OTHER}"}}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := modelsOf(t, tt.doc); (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v, want %q", err, tt.says)
			}
		})
	}
}
