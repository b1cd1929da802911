package settings_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/internal/settings"
)

func TestIssuers(t *testing.T) {
	s, values, err := settings.Resolve(settings.Layers{File: file(t, `{"auth": {"mode": ["oidc"]}, "oidc": [
		{"name": "corp", "issuer": "https://login.example.com/", "client_id": "svc", "client_secret": "{env.SECRET}",
		 "groups_claim": "realm_access.roles", "admin_groups": ["ops", "root"], "user_groups": "*", "userinfo": true, "leeway": "5s", "label": "Example"},
		{"name": "ci", "issuer": "http://127.0.0.1:9000", "audience": ["api"], "authorized_parties": ["runner"], "readonly_groups": ["*"]}
	]}`)})
	if err != nil {
		t.Fatal(err)
	}
	scopes := []string{"openid", "profile", "email"}
	want := []settings.Issuer{
		{
			Name: "corp", URL: "https://login.example.com/", ClientID: "svc", ClientSecret: "{env.SECRET}", Scopes: scopes,
			GroupsClaim: "realm_access.roles", AdminGroups: []string{"ops", "root"}, UserGroups: []string{"*"},
			UserInfo: true, Leeway: 5 * time.Second, Label: "Example",
		},
		{
			Name: "ci", URL: "http://127.0.0.1:9000", Scopes: scopes, Audience: []string{"api"}, AuthorizedParties: []string{"runner"},
			GroupsClaim: "groups", ReadonlyGroups: []string{"*"}, Leeway: 30 * time.Second, Label: "ci",
		},
	}
	if d := cmp.Diff(want, s.Issuers()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	shown := value(values, settings.IssuersKey)
	if shown.Origin != settings.FromFile || !strings.Contains(shown.Value, `"leeway":"5s"`) {
		t.Errorf("got %+v", shown)
	}
}

func TestIssuerErrors(t *testing.T) {
	const whole = `"name": "a", "issuer": "https://a.example", "client_id": "svc", "user_groups": "*"`
	for _, tt := range []struct{ name, doc, want string }{
		{"mode without one", `{"auth": {"mode": ["oidc"]}}`, `auth.mode: oidc needs an identity provider: write a block oidc <name> { … } into the Caddyfile, or one into the list oidc of config/api.json`},
		{"no list", `{"oidc": {}}`, `api.json:1: oidc must be a list of objects`},
		{"no object", `{"oidc": ["a"]}`, `oidc[0] must be a JSON object`},
		{"cut off", `{"oidc": [{"name": "a"`, `this is not valid JSON`},
		{"empty", `{"oidc": [{}]}`, `oidc[0]: name is missing: give an identity provider a name of lowercase letters, digits and -`},
		{"name in a path", `{"oidc": [{"name": "../x"}]}`, `oidc[0]: name: "../x" is not a name`},
		{"unknown field", "{\"oidc\": [{\n\"isuer\": \"x\"}]}", `api.json:2: oidc[0]: oidc has no isuer; did you mean issuer?`},
		{"far field", `{"oidc": [{"zzzzzzzzzzzzzzzzzzzzzzzz": "x"}]}`, `it has name, issuer, client_id, client_secret`},
		{"field twice", "{\"oidc\": [{\"label\": \"a\",\n\"label\": \"b\"}]}", `api.json:2: oidc[0].label is set twice`},
		{"type", `{"oidc": [{"client_id": 1}]}`, `oidc[0]: client_id: 1 is not a string; write it in quotes`},
		{"name's type", `{"oidc": [{"name": 1}]}`, `oidc[0]: name: 1 is not a string; write it in quotes`},
		{"list's type", `{"oidc": [{"scopes": [1]}]}`, `oidc[0]: scopes: this is not a list of strings`},
		{"empty group", `{"oidc": [{"admin_groups": ["a", ""]}]}`, `oidc[0]: admin_groups: the value is empty`},
		{"empty value", `{"oidc": [{"user_claim": ""}]}`, `oidc[0]: user_claim: the value is empty`},
		{"flag", `{"oidc": [{"userinfo": "perhaps"}]}`, `oidc[0]: userinfo: "perhaps" is neither true nor false`},
		{"leeway", `{"oidc": [{"leeway": "1h"}]}`, `oidc[0]: leeway: 1h0m0s is out of range: use 0s to 5m0s`},
		{"scopes", `{"oidc": [{"scopes": ["email"]}]}`, `oidc[0]: scopes: openid is not among them`},
		{"issuer with a query", `{"oidc": [{"issuer": "https://a.example/?x"}]}`, `oidc[0]: issuer: an issuer has no user, query or fragment`},
		{"issuer without a scheme", `{"oidc": [{"issuer": "a.example"}]}`, `oidc[0]: issuer: this is not an address`},
		{"issuer without TLS", `{"oidc": [{"name": "a", "issuer": "http://a.example", "client_id": "svc", "user_groups": "*"}]}`, `oidc[0]: issuer: use https; insecure allows http on another host`},
		{"no issuer", `{"oidc": [{"name": "a", "client_id": "svc", "user_groups": "*"}]}`, `oidc[0]: issuer is missing`},
		{"no client", `{"oidc": [{"name": "a", "issuer": "https://a.example", "user_groups": "*"}]}`, `oidc[0]: client_id is missing`},
		{"name of logins", `{"oidc": [{"name": "a", "issuer": "https://a.example", "client_id": "x", "name_claim": "y", "user_groups": "*"}]}`, `name_claim is for bearer tokens alone`},
		{"secret without client", `{"oidc": [{"name": "a", "issuer": "https://a.example", "audience": "x", "client_secret": "{env.X}", "user_groups": "*"}]}`, `client_secret is of no use without client_id`},
		{"no roles", `{"oidc": [{"name": "a", "issuer": "https://a.example", "client_id": "svc"}]}`, `oidc[0]: nobody would get a role`},
		{"literal secret", `{"oidc": [{` + whole + `, "client_secret": "hunter2"}]}`, `oidc[0]: client_secret: this is not {env.NAME} or {file./path}`},
		{"other placeholder", `{"oidc": [{` + whole + `, "client_secret": "{http.hunter2}"}]}`, `oidc[0]: client_secret: this is not {env.NAME} or {file./path}`},
		{"relative CA file", `{"oidc": [{` + whole + `, "ca_file": "ca.pem"}]}`, `oidc[0]: ca_file: "ca.pem" is not an absolute path`},
		{"object for a word", `{"oidc": [{"client_id": {"is": "hunter2"}}]}`, `oidc[0]: client_id: this is not a string`},
		{"line of an object", "{\"oidc\": [\n{\"name\": \"a\",\n\"issuer\": \"https://a.example\"}]}", `api.json:2: oidc[0]: client_id is missing`},
		{"name twice", `{"oidc": [{` + whole + `}, {` + strings.Replace(whole, "a.example", "b.example", 1) + `}]}`, `oidc[1]: name: "a" is used twice`},
		{"issuer twice", `{"oidc": [{` + whole + `}, {` + strings.Replace(whole, `"a"`, `"b"`, 1) + `}]}`, `oidc[1]: issuer: https://a.example is the issuer of a already`},
		{"public address", `{"auth": {"public_url": "https://a.example/x"}}`, `auth.public_url: this is not an address without a path`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := settings.Resolve(settings.Layers{File: file(t, tt.doc)})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want one with %q", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error repeats a secret: %v", err)
			}
		})
	}
}

func TestIssuersAreNoVariable(t *testing.T) {
	_, _, err := settings.Resolve(settings.Layers{Flags: map[string]string{"oidc": "[]"}})
	if err == nil || !strings.Contains(err.Error(), "--set oidc: this list can be set in config/api.json or the Caddyfile only") {
		t.Errorf("got error %v", err)
	}
}

func TestMissingClientSecret(t *testing.T) {
	s := settings.Settings{
		Auth:  settings.Auth{Mode: []string{"oidc"}},
		Lists: settings.Lists{settings.IssuersKey: []settings.Issuer{{Name: "corp", ClientSecret: "{env.SECRET}"}}},
	}
	if err := s.CheckEnvironment(env(nil)); err == nil || !strings.Contains(err.Error(), "oidc corp: client_secret: SECRET is not set") {
		t.Errorf("got error %v", err)
	}
	if err := s.CheckEnvironment(env(map[string]string{"SECRET": "x"})); err != nil {
		t.Errorf("got error %v", err)
	}
}
