package settings_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/internal/settings"
)

func env(pairs map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v, ok := pairs[name]
		return v, ok
	}
}

func file(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "api.json")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func value(values []settings.Value, key string) settings.Value {
	for _, v := range values {
		if v.Key == key {
			return v
		}
	}
	return settings.Value{}
}

func TestDefaults(t *testing.T) {
	got, values, err := settings.Resolve(settings.Layers{})
	if err != nil {
		t.Fatal(err)
	}
	want := settings.Settings{
		Auth: settings.Auth{Mode: []string{"none"}, SessionTTLHours: 24},
		Runtime: settings.Runtime{
			Timeout: time.Minute, MaxSteps: 25, MaxDepth: 3, MaxTokens: 200_000, RunTimeout: 10 * time.Minute,
		},
		Output: settings.Output{Retry: true, MaxBytes: 128 << 10},
		Classifier: settings.Classifier{
			Shape: "plain", Timeout: 2 * time.Second, Threshold: 0.5, Fail: "open", Failures: 5, Pause: 30 * time.Second,
			MaxText: 64 << 10, Piece: 8 << 10, Calls: 8,
		},
		Model: settings.Model{
			Provider: "demo", Thinking: "off", Timeout: 2 * time.Minute, MaxRetries: 2, ContextTokens: 100_000,
		},
		Limits: settings.Limits{BodyBytes: 4 << 20, RunsPerMinute: 600, RequestsPerMinute: 6000, RequestsBurst: 600, ParallelRuns: 100, StreamsPerUser: 1000},
		LDAP: settings.LDAP{
			Filter: "(uid=%u)", NameAttribute: "uid", IDAttribute: "entryUUID",
			Groups: "memberof", GroupFilter: "(|(member=%d)(uniqueMember=%d))",
			Timeout: 5 * time.Second, Pool: 8, CacheTTL: 30 * time.Second,
		},
		Bus: settings.Bus{Kind: "memory", Mode: "single", Prefix: "svc:", Timeout: time.Second},

		Database: settings.Database{SnapshotMaxAge: 30 * time.Second, QueryTimeout: 10 * time.Second, Memory: 512 << 20, Threads: 2},
		Memory: settings.Memory{
			Enabled: true, Capture: "cued", Recall: 8, Entries: 5000, Bytes: 2 << 20, HalfLife: 90 * 24 * time.Hour, Keep: 365 * 24 * time.Hour,
			EmbeddingsTimeout: time.Second,
		},
		Retention: settings.Retention{Ephemeral: 24 * time.Hour},
		Approvals: settings.Approvals{TTL: 15 * time.Minute},
		Sandbox: settings.Sandbox{
			Mode: "auto", Network: "proxy", Memory: 512 << 20, Processes: 128, OpenFiles: 256,
			WorkspaceSize: 64 << 20, Files: 4096, Output: 1 << 20,
			System: []string{
				"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc/alternatives", "/etc/ld.so.cache",
				"/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/mime.types", "/etc/protocols", "/etc/services",
				"/etc/ssl/certs", "/etc/pki/ca-trust", "/etc/pki/tls/certs",
			},
			Hidden: []string{
				"/root", "/home", "/run", "/var/run", "/var/spool", "/var/backups", "/var/lib/docker", "/var/lib/containerd",
				"/var/lib/kubelet", "/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers",
				"/etc/sudoers.d", "/etc/ssh", "/etc/ssl/private", "/etc/svc", "/etc/kubernetes",
			},
			Provider: "local", UploadSize: 64 << 20,
			Daytona: settings.Daytona{URL: "https://app.daytona.io/api"},
			Runloop: settings.Runloop{URL: "https://api.runloop.ai"},
			Modal:   settings.Modal{URL: "https://api.modal.com:443", App: "svc", Image: "python:3.13-slim-bookworm"},
		},
		MCP:    settings.MCP{Agent: "core"},
		Fetch:  settings.Fetch{Size: 100 << 10, Timeout: 20 * time.Second},
		Device: settings.Device{Timeout: 30 * time.Second, Parallel: 50, Output: 256 << 10},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("defaults (-want +got):\n%s", d)
	}
	for _, o := range settings.Options() {
		if value(values, o.Key).Key == "" {
			t.Errorf("%s has no value", o.Key)
		}
	}
	for _, v := range values {
		if v.Origin != settings.FromDefault {
			t.Errorf("%s: got origin %s, want default", v.Key, v.Origin)
		}
	}
}

func TestPrecedence(t *testing.T) {
	path := file(t, `{"runtime": {"max_steps": 1, "timeout": "1s", "max_tokens": 11, "run_timeout": "1m"}}`)
	caddyfile := `{"runtime": {"max_steps": 2, "timeout": "2s", "max_tokens": "22"}}`
	environment := map[string]string{"SVC_RUNTIME_MAX_STEPS": "3", "SVC_RUNTIME_TIMEOUT": "3s", "SVC_MODEL_NAME": ""}
	flags := map[string]string{"runtime.max_steps": "4"}

	s, values, err := settings.Resolve(settings.Layers{Flags: flags, Env: env(environment), Caddyfile: []byte(caddyfile), File: path})
	if err != nil {
		t.Fatal(err)
	}
	if s.Runtime.MaxSteps != 4 || s.Runtime.Timeout != 3*time.Second || s.Runtime.MaxTokens != 22 || s.Runtime.RunTimeout != time.Minute {
		t.Errorf("got %+v", s.Runtime)
	}
	want := map[string]settings.Value{
		"runtime.max_steps":   {Key: "runtime.max_steps", Value: "4", Origin: settings.FromFlag, Place: "--set runtime.max_steps"},
		"runtime.timeout":     {Key: "runtime.timeout", Value: "3s", Origin: settings.FromEnv, Place: "SVC_RUNTIME_TIMEOUT"},
		"runtime.max_tokens":  {Key: "runtime.max_tokens", Value: "22", Origin: settings.FromCaddyfile},
		"runtime.run_timeout": {Key: "runtime.run_timeout", Value: "1m0s", Origin: settings.FromFile, Place: path + ":1"},
		"model.name":          {Key: "model.name", Origin: settings.FromDefault},
	}
	for _, v := range values {
		if w, ok := want[v.Key]; ok {
			if d := cmp.Diff(w, v); d != "" {
				t.Errorf("%s (-want +got):\n%s", v.Key, d)
			}
		}
	}
}

func TestEveryKindFromEveryLayer(t *testing.T) {
	want, _, err := settings.Resolve(settings.Layers{})
	if err != nil {
		t.Fatal(err)
	}
	want.Auth = settings.Auth{Mode: []string{"token", "none"}, SessionTTLHours: 8}
	want.Runtime.Timeout, want.Runtime.ProjectRoot = 5*time.Second, "/srv"
	want.Model = settings.Model{Provider: "openai", BaseURL: "http://127.0.0.1:11434/v1", Name: "qwen3", APIKeyEnv: "KEY", Thinking: "off", Timeout: 2 * time.Minute, ContextTokens: 100_000}
	want.Limits.BodyBytes = 8 << 20
	want.CORS.Origins = []string{"https://a.example", "http://b.example:8080"}
	want.LDAP.Nested = true
	want.LDAP.UserGroups = []string{"cn=a b,dc=x", "staff"}
	doc := `{
	"auth": {"mode": ["token", "none"], "session_ttl_hours": 8},
	"runtime": {"timeout": "5s", "project_root": "/srv"},
	"model": {"provider": "openai", "base_url": "http://127.0.0.1:11434/v1", "name": "qwen3", "api_key_env": "KEY", "max_retries": 0},
	"limits": {"body_bytes": "8MiB"},
	"cors": {"origins": ["https://a.example", "http://b.example:8080"]},
	"ldap": {"nested": true, "user_groups": ["cn=a b,dc=x", "staff"]}
}`
	text := map[string]string{
		"auth.mode": "token, none", "auth.session_ttl_hours": "8", "runtime.timeout": "5s", "runtime.project_root": "/srv",
		"model.provider": "openai", "model.base_url": "http://127.0.0.1:11434/v1", "model.name": "qwen3",
		"model.api_key_env": "KEY", "model.max_retries": "0", "limits.body_bytes": "8388608",
		"cors.origins": "https://a.example http://b.example:8080",
		"ldap.nested":  "true", "ldap.user_groups": "cn=a b,dc=x; staff",
	}
	vars := map[string]string{}
	for _, o := range settings.Options() {
		if v, ok := text[o.Key]; ok {
			vars[o.Env()] = v
		}
	}
	for name, l := range map[string]settings.Layers{
		"file":      {File: file(t, doc)},
		"Caddyfile": {Caddyfile: []byte(doc)},
		"env":       {Env: env(vars)},
		"flags":     {Flags: text},
	} {
		got, _, err := settings.Resolve(l)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

func TestFileErrors(t *testing.T) {
	for _, tt := range []struct{ name, doc, want string }{
		{"empty", ``, `api.json:1: this is not valid JSON: the file ends too early`},
		{"not an object", `[]`, `api.json:1: the settings must be a JSON object, {…}`},
		{"cut off", "{\n\"auth\": {", `api.json:2: this is not valid JSON: the file ends too early`},
		{"syntax", "{\n\"auth\": {\"mode\": token}}", `api.json:2: this is not valid JSON: invalid character`},
		{"trailing", `{} {}`, `api.json:1: something follows the end of the settings`},
		{"unknown section", "{\n\n\"runtme\": {}}", `api.json:3: runtme is not a setting; did you mean runtime?`},
		{"unknown key", "{\"runtime\": {\n\"timout\": \"1s\"}}", `api.json:2: runtime.timout is not a setting; did you mean runtime.timeout?`},
		{"far key", `{"cors": {"zzzzzzzzzzzz": 1}}`, `api.json:1: cors.zzzzzzzzzzzz is not a setting; cors has origins`},
		{"far section", `{"zzzzzzzzzzzzzz": 1}`, `zzzzzzzzzzzzzz is not a setting; there are auth, runtime, `},
		{"far list", `{"zzzzzzzzzzzzzz": 1}`, `, async_subagents, `},
		{"flat key", `{"auth.mode": "token"}`, `auth.mode is not a section: write mode in the section auth`},
		{"twice", "{\"auth\": {\"mode\": \"token\",\n\"mode\": \"none\"}}", `api.json:2: auth.mode is set twice`},
		{"section twice", `{"auth": {}, "auth": {}}`, `auth is set twice`},
		{"section not an object", `{"auth": "token"}`, `auth must be a JSON object`},
		{"number for text", `{"runtime": {"timeout": 60}}`, `runtime.timeout: 60 is not a string`},
		{"no unit", `{"runtime": {"timeout": "60"}}`, `runtime.timeout: "60" is not a duration: write a number with its unit`},
		{"too long", `{"runtime": {"timeout": "2h"}}`, `runtime.timeout: 2h0m0s is out of range: use 1ms to 1h0m0s`},
		{"text for number", `{"runtime": {"max_steps": "3"}}`, `runtime.max_steps: "3" is not a number`},
		{"null", `{"runtime": {"max_steps": null}}`, `runtime.max_steps: null is not a number`},
		{"fraction", `{"runtime": {"max_steps": 2.5}}`, `runtime.max_steps: "2.5" is not a whole number`},
		{"out of range", `{"runtime": {"max_steps": 0}}`, `runtime.max_steps: 0 is out of range: use 1 to 1000`},
		{"list of numbers", `{"auth": {"mode": [1]}}`, `auth.mode: this is not a list of strings`},
		{"empty list", `{"auth": {"mode": []}}`, `auth.mode: the list is empty`},
		{"mode", `{"auth": {"mode": "tokn"}}`, `auth.mode: "tokn" is not a mode; did you mean token?`},
		{"mode twice", `{"auth": {"mode": ["token", "token"]}}`, `auth.mode: token is listed twice`},
		{"provider", `{"model": {"provider": "openapi"}}`, `model.provider: "openapi" is not a provider; did you mean openai?`},
		{"no model name", `{"model": {"provider": "openai"}}`, `model.name is missing`},
		{"address with a password", `{"model": {"base_url": "https://u:hunter2@x/"}}`, `model.base_url: an address must not carry a user or password`},
		{"address", `{"model": {"base_url": "localhost:11434"}}`, `model.base_url: this is not an http or https address`},
		{"size", `{"limits": {"body_bytes": "4 MB of"}}`, `limits.body_bytes: "4 MB of" is not a size`},
		{"huge size", `{"limits": {"body_bytes": "9999999999GiB"}}`, `limits.body_bytes: 9999999999GiB is out of range`},
		{"origin with path", `{"cors": {"origins": ["https://a.example/x"]}}`, `cors.origins: "https://a.example/x" is not an origin`},
		{"any origin without a credential", `{"cors": {"origins": ["*"]}}`, `cors.origins: * lets pages of any site in, and with auth.mode none they would act as admin: name the origins`},
		{"a pattern without a credential", `{"auth": {"mode": ["token", "none"]}, "cors": {"origins": ["https://*.a.example"]}}`, `cors.origins: https://*.a.example lets`},
		{"relative root", `{"runtime": {"project_root": "src"}}`, `runtime.project_root: "src" is not an absolute path`},
		{"root root", `{"runtime": {"project_root": "//"}}`, `runtime.project_root: the whole file system cannot be the project root`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := settings.Resolve(settings.Layers{File: file(t, tt.doc)})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want one with %q", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error repeats a password: %v", err)
			}
		})
	}
}

// What was adapted from a Caddyfile has lines that nobody has seen.
func TestAdaptedErrors(t *testing.T) {
	for doc, want := range map[string]string{
		`{"runtime": {"timout": "1s"}}`:                    "Caddyfile: runtime.timout is not a setting",
		`{"oidc": [{"issuer": "x", "name": "corp"}]}`:      "Caddyfile: oidc[0]: issuer: this is not an address",
		`{"oidc": [{"label": "Example", "name": "corp"}]}`: "Caddyfile: oidc corp: issuer is missing",
	} {
		if _, _, err := settings.Resolve(settings.Layers{Caddyfile: []byte(doc)}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got error %v, want %q", doc, err, want)
		}
	}
}

func TestAllErrorsAtOnce(t *testing.T) {
	_, _, err := settings.Resolve(settings.Layers{
		File:  file(t, `{"runtime": {"timout": "1s", "max_steps": 0}}`),
		Env:   env(map[string]string{"SVC_AUTH_MODE": "saml", "SVC_MODEL_API_KEY_ENV": "sk-secret-key"}),
		Flags: map[string]string{"model.nam": "x", "async_subagents": "[]"},
	})
	for _, want := range []string{
		"did you mean runtime.timeout?", "max_steps: 0 is out of range", `SVC_AUTH_MODE: auth.mode: "saml" is not a mode`,
		"SVC_MODEL_API_KEY_ENV: model.api_key_env: this is not the name", "--set model.nam: model.nam is not a setting; did you mean model.name?",
		"--set async_subagents: this list can be set in config/api.json or the Caddyfile only",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one with %q", err, want)
		}
	}
	if err != nil && strings.Contains(err.Error(), "sk-secret") {
		t.Errorf("the error repeats a key: %v", err)
	}
}

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		key   string
		words []string
		want  any
		err   string
	}{
		{"auth.mode", []string{"token", "none"}, []string{"token", "none"}, ""},
		{"runtime.max_steps", []string{"3"}, json.Number("3"), ""},
		{"limits.body_bytes", []string{"1MiB"}, json.Number("1048576"), ""},
		{"runtime.timeout", []string{"90s"}, "1m30s", ""},
		{"runtime.max_steps", []string{"{env.STEPS}"}, "{env.STEPS}", ""},
		{"ldap.nested", []string{"false"}, false, ""},
		{"ldap.nested", nil, true, ""},
		{"auth.mode", []string{"{env.MODE}"}, []string{"{env.MODE}"}, ""},
		{"runtime.max_steps", []string{"3", "4"}, nil, "one value is expected, 2 are given"},
		{"runtime.max_steps", nil, nil, "a value is missing"},
		{"model.name", []string{""}, nil, "the value is empty"},
		{"model.nme", []string{"x"}, nil, "did you mean model.name?"},
	} {
		got, err := settings.Parse(tt.key, tt.words)
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("Parse(%s, %q): got error %v, want %q", tt.key, tt.words, err, tt.err)
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("Parse(%s, %q) (-want +got):\n%s", tt.key, tt.words, d)
		}
	}
}

func TestCheckEnvironment(t *testing.T) {
	s := settings.Settings{Model: settings.Model{Provider: "openai", APIKeyEnv: "KEY"}}
	if err := s.CheckEnvironment(env(nil)); err == nil || !strings.Contains(err.Error(), "names KEY, which is not set") {
		t.Errorf("got %v", err)
	}
	if err := s.CheckEnvironment(env(map[string]string{"KEY": "x"})); err != nil {
		t.Errorf("got %v", err)
	}
}

func TestStrayEnv(t *testing.T) {
	got := settings.StrayEnv([]string{
		"SVC_RUNTIME_TIMOUT=1s", "SVC_HOME=/x", "SVC_AUTO_APPROVE=1", "SVC_SANDBOX_NETNS=1", "SVC_AUTH_MODE=none", "PATH=/",
		"SVC_AUTH_MODES=token", "SVC_AUHT_MODE=token", "svc_auth_mode=token", "SVCAUTH_MODE=token", "SVC_PORT=1", "SVC_HOST=a", "SVC_SERVICE_HOST=a", "AUTH_MODE=x",
	})
	want := []string{
		"SVCAUTH_MODE is not a setting; did you mean SVC_AUTH_MODE?",
		"SVC_AUHT_MODE is not a setting; did you mean SVC_AUTH_MODE?",
		"SVC_AUTH_MODES is not a setting; did you mean SVC_AUTH_MODE?",
		"SVC_RUNTIME_TIMOUT is not a setting; did you mean SVC_RUNTIME_TIMEOUT?",
		"svc_auth_mode is not a setting; did you mean SVC_AUTH_MODE?",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func FuzzFile(f *testing.F) {
	f.Add([]byte(`{"auth": {"mode": ["token"]}, "async_subagents": [{"name": "a"}]}`))
	f.Add([]byte(`{"oidc": [{"name": "a", "issuer": "https://a.example", "client_id": "b", "user_groups": "*"}]}`))
	f.Add([]byte(`{"runtime": {"timeout": 1e9}, "x"`))
	path := filepath.Join(f.TempDir(), "api.json")
	f.Fuzz(func(t *testing.T, doc []byte) {
		if err := os.WriteFile(path, doc, 0o600); err != nil {
			t.Fatal(err)
		}
		s, values, err := settings.Resolve(settings.Layers{File: path})
		if err != nil {
			return
		}
		// What was accepted is in range, whatever the bytes were.
		if len(s.Auth.Mode) == 0 || s.Runtime.MaxSteps < 1 || s.Runtime.Timeout <= 0 || s.Limits.BodyBytes < 1<<10 {
			t.Errorf("accepted %q as %+v (%v)", doc, s, values)
		}
	})
}
