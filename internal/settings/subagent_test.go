package settings_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/internal/settings"
)

func TestSubagents(t *testing.T) {
	s, values, err := settings.Resolve(settings.Layers{File: file(t,
		`{"async_subagents": [{"name": "net", "description": "d", "url": "https://r.example", "assistant_id": "core", "api_key_env": "K", "reach": ["10.0.0.0/8"], "ca_file": "/ca.pem"}]}`)})
	if err != nil {
		t.Fatal(err)
	}
	want := []settings.AsyncSubagent{{Name: "net", Description: "d", URL: "https://r.example", AssistantID: "core", APIKeyEnv: "K", Reach: []string{"10.0.0.0/8"}, CAFile: "/ca.pem"}}
	if d := cmp.Diff(want, s.AsyncSubagents()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	shown := value(values, "async_subagents")
	if shown.Origin != settings.FromFile || shown.Value != `[{"name":"net","description":"d","url":"https://r.example","assistant_id":"core","api_key_env":"K","reach":["10.0.0.0/8"],"ca_file":"/ca.pem"}]` {
		t.Errorf("got %+v", shown)
	}
	if err := s.CheckEnvironment(env(nil)); err != nil {
		t.Errorf("the service does not start without the key of a remote agent: %v", err)
	}
}

func TestSubagentErrors(t *testing.T) {
	const whole = `"name": "a", "url": "http://x", "assistant_id": "b"`
	for _, tt := range []struct{ name, doc, want string }{
		{"no list", `{"async_subagents": {}}`, `api.json:1: async_subagents must be a list of objects, [{…}]`},
		{"null", `{"async_subagents": null}`, `async_subagents must be a list`},
		{"cut off", `{"async_subagents": [{"name": "a"`, `this is not valid JSON`},
		{"field", "{\"async_subagents\": [{\n\"nam\": \"x\"}]}", `api.json:2: async_subagents[0]: async_subagents has no nam; did you mean name?`},
		{"type", `{"async_subagents": [{"name": 1}]}`, `async_subagents[0]: name: 1 is not a string; write it in quotes`},
		{"no name", `{"async_subagents": [{}]}`, `async_subagents[0]: name is missing: give a remote sub-agent a name`},
		{"no address", `{"async_subagents": [{}]}`, `async_subagents[0]: url is missing: write the address`},
		{"no assistant", `{"async_subagents": [{}]}`, `async_subagents[0]: assistant_id is missing`},
		{"name", `{"async_subagents": [{"name": "a b"}]}`, `async_subagents[0]: name: "a b" is not a name for a remote sub-agent: use 1 to 32 lowercase letters, digits and -`},
		{"address", `{"async_subagents": [{"url": "x"}]}`, `async_subagents[0]: url: this is not an http or https address`},
		{"key as value", `{"async_subagents": [{"api_key_env": "sk-hunter2"}]}`, `async_subagents[0]: api_key_env: this is not the name of an environment variable`},
		{"key in clear", `{"async_subagents": [{"name": "a", "url": "http://agents.example", "assistant_id": "b", "api_key_env": "K"}]}`, `async_subagents[0]: url: the key would go over the network in clear: use https`},
		{"query", `{"async_subagents": [{"name": "a", "url": "https://agents.example/?a=hunter2", "assistant_id": "b"}]}`, `async_subagents[0]: url: an address must not carry a query or fragment`},
		{"network", `{"async_subagents": [{"reach": ["x"]}]}`, `async_subagents[0]: reach: "x"`},
		{"relative file", `{"async_subagents": [{"ca_file": "ca.pem"}]}`, `async_subagents[0]: ca_file: "ca.pem" is not an absolute path`},
		{"twice", "{\"async_subagents\": [{" + whole + "},\n{" + whole + "}]}", `api.json:2: async_subagents[1]: name: "a" is used twice`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := settings.Resolve(settings.Layers{File: file(t, tt.doc)})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want one with %q", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error repeats a key: %v", err)
			}
		})
	}
}
