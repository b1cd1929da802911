package settings_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/internal/settings"
)

func TestMCPServers(t *testing.T) {
	s, _, err := settings.Resolve(settings.Layers{File: file(t, `{"mcp_servers": [
		{"name": "files", "command": ["node", "a b.js"], "read": ["/opt/x"], "agents": ["core"], "use": ["get", "list"]},
		{"name": "web", "url": "https://m.example/mcp", "key": "{env.K}", "timeout": "5s"}]}`)})
	if err != nil {
		t.Fatal(err)
	}
	want := []settings.MCPServer{
		{
			Name: "files", Command: []string{"node", "a b.js"}, Place: settings.PlaceSandbox, Read: []string{"/opt/x"}, Network: "none",
			KeyHeader: "Authorization", Agents: []string{"core"}, Use: []string{"get", "list"}, Timeout: time.Minute,
		},
		{Name: "web", Place: settings.PlaceSandbox, Network: "none", URL: "https://m.example/mcp", Key: "{env.K}", KeyHeader: "Authorization", Timeout: 5 * time.Second},
	}
	if d := cmp.Diff(want, s.MCPServers()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if err := s.CheckEnvironment(env(nil)); err == nil || !strings.Contains(err.Error(), "K is not set") {
		t.Errorf("a key that is not there: got %v", err)
	}
}

func TestMCPServerErrors(t *testing.T) {
	for _, tt := range []struct{ name, fields, want string }{
		{"nothing", ``, "command is missing"},
		{"both", `, "command": ["x"], "url": "https://x.example"`, "remove one of them"},
		{"relative folder", `, "command": ["x"], "read": ["x"]`, `"x" is not an absolute path`},
		{"place", `, "command": ["x"], "place": "hosts"`, "did you mean host?"},
		{"network on the host", `, "command": ["x"], "place": "host", "network": "proxy"`, "have no effect on the host"},
		{"folders of an address", `, "url": "https://x.example", "read": ["/x"]`, "are for programs"},
		{"key of a program", `, "command": ["x"], "key": "{env.K}"`, "give a program its key with environment"},
		{"key as it is", `, "url": "https://x.example", "key": "hunter2"`, "never the secret itself"},
		{"in the clear", `, "url": "http://x.example"`, "needs https"},
		{"password", `, "url": "https://a:hunter2@x.example"`, "must not carry a user"},
		{"declared twice", `, "command": ["x"], "use": ["a"], "mutate": ["a"]`, `"a" is in mutate, too`},
		{"key in the query", `, "url": "https://x.example/mcp?key=hunter2"`, "a query or a fragment: say with key"},
		{"header", `, "url": "https://x.example", "key_header": "a b"`, "is not the name of a header"},
		{"variable with its value", `, "command": ["x"], "environment": ["K=hunter2"]`, "is the name of an environment variable"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := settings.Resolve(settings.Layers{File: file(t, `{"mcp_servers": [{"name": "a"`+tt.fields+`}]}`)})
			if err == nil || !strings.Contains(err.Error(), "mcp_servers[0]: ") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want one with %q", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error repeats a secret: %v", err)
			}
		})
	}
}
