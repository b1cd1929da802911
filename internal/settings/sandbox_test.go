package settings_test

import (
	"strings"
	"testing"

	"github.com/svc-gateway/svc/internal/settings"
)

func TestSandboxSettings(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"an unknown mode", `{"sandbox": {"mode": "fulll"}}`, `sandbox.mode: "fulll" is not a mode of the sandbox; did you mean full?`},
		{"an unknown network", `{"sandbox": {"network": "none"}}`, `sandbox.network: "none" is not a network of the sandbox`},
		{"a relative path", `{"sandbox": {"system": ["usr"]}}`, `"usr" is not an absolute path`},
		{"the root", `{"sandbox": {"hidden": ["/"]}}`, `/ is the whole file system`},
		{"a variable with a value", `{"sandbox": {"env": ["TOKEN=x"]}}`, `without a value`},
		{"the host's network for everybody", `{"sandbox": {"network": "host"}}`, `sandbox.network: host lets generated code reach this service`},
		{"two networks", `{"auth": {"mode": ["token"]}, "sandbox": {"network": "host", "netns": 1}}`, `set one of them only`},
		{"no network", `{"sandbox": {"reach": ["10.1.2.3/16"]}}`, `"10.1.2.3/16" is not a network`},
		{"too little memory", `{"sandbox": {"memory": "1MiB"}}`, `sandbox.memory`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, _, err := settings.Resolve(settings.Layers{File: file(t, tc.text)})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want an error with %q", err, tc.want)
			}
		})
	}
	s, _, err := settings.Resolve(settings.Layers{Env: env(map[string]string{"SVC_SANDBOX_NETNS": "1"})})
	if err != nil || s.Sandbox.Netns != 1 {
		t.Errorf("SVC_SANDBOX_NETNS=1: got %d, %v", s.Sandbox.Netns, err)
	}
}
