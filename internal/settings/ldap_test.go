package settings_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svc-gateway/svc/internal/settings"
)

func TestLDAPErrors(t *testing.T) {
	const whole = `"url": "ldaps://l.example", "base_dn": "dc=x", "user_groups": "staff"`
	for _, tt := range []struct{ name, ldap, want string }{
		{"nothing", ``, `ldap.url is missing`},
		{"no base", `"url": "ldaps://l.example"`, `ldap.base_dn is missing`},
		{"no groups", `"url": "ldaps://l.example", "base_dn": "dc=x"`, `ldap.user_groups is missing`},
		{"base and template", whole + `, "user_template": "uid=%u,dc=x"`, `ldap.base_dn and ldap.user_template exclude each other`},
		{"insecure for nothing", whole + `, "insecure": true`, `ldap.insecure has no effect`},
		{"no password", whole + `, "bind_dn": "cn=svc,dc=x"`, `ldap.bind_password is missing`},
		{"no account", whole + `, "bind_password": "{env.P}"`, `ldap.bind_dn is missing`},
		{"nested chain", whole + `, "groups": "chain", "nested": true`, `ldap.nested has no effect`},
		{"nested names", whole + `, "groups": "member", "group_filter": "(memberUid=%u)", "nested": true`, `ldap.nested needs an ldap.group_filter without %u`},
		{"groups of a template", `"url": "ldaps://l.example", "user_template": "uid=%u,dc=x", "user_groups": "g", "groups": "member"`, `ldap.group_base_dn is missing`},
		{"way to find groups", whole + `, "groups": "members"`, `ldap.groups: "members" is not a way to find groups; did you mean member?`},
		{"scheme", `"url": "http://l.example"`, `ldap.url: this is not an address such as ldaps://`},
		{"no host", `"url": "ldap:///dc=x"`, `ldap.url: this is not an address such as ldaps://`},
		{"more than an address", `"url": "ldap://l.example/dc=x??sub"`, `ldap.url: an address is ldap:// or ldaps://`},
		{"server twice", `"url": ["ldap://l", "ldap://l"]`, `ldap.url: ldap://l is listed twice`},
		{"group twice", `"admin_groups": ["a", "a"]`, `ldap.admin_groups: a is listed twice`},
		{"filter", `"filter": "(uid=*)"`, `ldap.filter: %u is missing`},
		{"relative file", `"ca_file": "ca.pem"`, `ldap.ca_file: "ca.pem" is not an absolute path`},
		{"neither true nor false", `"nested": "true"`, `ldap.nested: "true" is neither true nor false`},
		{"null", `"nested": null`, `ldap.nested: null is neither true nor false`},
		{"secret", `"bind_password": "hunter2"`, `ldap.bind_password: this is not {env.NAME} or {file./path}: put the secret into a variable`},
		{"secret no text", `"bind_password": ["hunter2"]`, `ldap.bind_password: this is not {env.NAME}`},
		{"secret in a relative file", `"bind_password": "{file.hunter2}"`, `ldap.bind_password: this is not {env.NAME}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc := `{"auth": {"mode": "ldap"}, "ldap": {` + tt.ldap + `}}`
			_, _, err := settings.Resolve(settings.Layers{File: file(t, doc)})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want one with %q", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error repeats a secret: %v", err)
			}
		})
	}
	if _, _, err := settings.Resolve(settings.Layers{File: file(t, `{"auth": {"mode": ["ldap", "token"]}, "ldap": {`+whole+`}}`)}); err != nil {
		t.Errorf("complete settings: %v", err)
	}
}

// A secret has a place and is nowhere in the settings, whichever layer says where.
func TestReferences(t *testing.T) {
	path := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(path, []byte("hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	vars := env(map[string]string{"P": "hunter2", "SVC_LDAP_BIND_PASSWORD": "hunter2"})
	doc := func(v string) string { return `{"ldap": {"bind_password": "` + v + `"}}` }
	for name, tt := range map[string]struct {
		layers settings.Layers
		shown  string
	}{
		"variable in a file":  {settings.Layers{File: file(t, doc("{env.P}"))}, "{env.P}"},
		"file in a Caddyfile": {settings.Layers{Caddyfile: []byte(doc("{file." + path + "}"))}, "{file." + path + "}"},
		"environment":         {settings.Layers{Env: vars}, "{env.SVC_LDAP_BIND_PASSWORD}"},
		"flag":                {settings.Layers{Flags: map[string]string{"ldap.bind_password": "{env.P}"}}, "{env.P}"},
	} {
		s, values, err := settings.Resolve(tt.layers)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, err := s.LDAP.BindPassword.Reveal(vars); got != "hunter2" || err != nil {
			t.Errorf("%s: got the secret %q, %v", name, got, err)
		}
		for _, v := range values {
			if v.Key == "ldap.bind_password" && v.Value != tt.shown {
				t.Errorf("%s: got shown %q, want %q", name, v.Value, tt.shown)
			}
			if strings.Contains(v.Value, "hunter2") {
				t.Errorf("%s: %s shows the secret", name, v.Key)
			}
		}
	}
	if _, err := settings.Parse("ldap.bind_password", []string{"hunter2{"}); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v for a secret in a Caddyfile, want an error without it", err)
	}
}

func TestMissingSecrets(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		ref  settings.Reference
		want string
	}{
		{"{env.NO_SUCH}", "ldap.bind_password: NO_SUCH is not set"},
		{"{file./no/such}", "ldap.bind_password: reading the secret: open /no/such"},
		{settings.Reference("{file." + empty + "}"), "is empty"},
	} {
		s := settings.Settings{Auth: settings.Auth{Mode: []string{"ldap"}}, LDAP: settings.LDAP{BindPassword: tt.ref}}
		if err := s.CheckEnvironment(env(nil)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want an error with %q", tt.ref, err, tt.want)
		}
	}
	s := settings.Settings{Auth: settings.Auth{Mode: []string{"token"}}, LDAP: settings.LDAP{BindPassword: "{env.NO_SUCH}"}}
	if err := s.CheckEnvironment(env(nil)); err != nil {
		t.Errorf("without ldap: got %v", err)
	}
}
