//go:build linux

package testscript

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// mistake is a Caddyfile with something wrong on the line that ends with "# here".
type mistake struct {
	name   string
	global string // sections of the global option svc; a mode alone where it is empty
	site   string
	env    []string
	want   []string // what the error says beside the place: the option, what is wrong, the fix
}

// stage writes a directive of one option.
func stage(directive, line string) string { return directive + " {\n" + line + " # here\n}" }

// oidc is a section for auth.mode oidc with a provider.
func oidc(lines string) string { return "auth {\nmode oidc\n}\n" + lines }

// ldap is a section for auth.mode ldap with more lines.
func ldap(lines string) string { return "auth {\nmode ldap\n}\nldap {\n" + lines + "\n}" }

const (
	ldapMost = "url ldaps://ldap.example.com\nuser_template uid=%u,dc=x\n"
	oidcMost = "issuer https://login.example.com\nclient_id x\n"
)

var mistakes = []mistake{
	// svc_auth
	{"auth: argument", "", "svc_auth token # here", nil, []string{"svc_auth takes no argument", `"token"`, "block"}},
	{"auth: unknown option", "", stage("svc_auth", "requires use"), nil, []string{`unknown option "requires"`, "want require"}},
	{"auth: require nothing", "", stage("svc_auth", "require"), nil, []string{"require takes exactly one value"}},
	{"auth: require two", "", stage("svc_auth", "require use mutate"), nil, []string{"require takes exactly one value"}},
	{"auth: require unknown", "", stage("svc_auth", "require root"), nil, []string{"require", `"root"`, "want use, mutate"}},
	{"auth: require twice", "", stage("svc_auth", "require use\nrequire admin"), nil, []string{"require is given twice"}},
	{"auth: prefix", "", stage("svc_auth", "prefix auth"), nil, []string{"prefix", "such as /auth"}},
	{"auth: pass_credentials value", "", stage("svc_auth", "pass_credentials on"), nil, []string{"pass_credentials takes no value", `"on"`}},
	{"auth: open nothing", "", stage("svc_auth", "open"), nil, []string{"open takes at least one value"}},
	{"auth: open all", "", stage("svc_auth", "open /*"), nil, []string{"open", "leave svc_auth out"}},
	{"auth: open form", "", stage("svc_auth", "open public/*"), nil, []string{"open", "/public/*"}},
	{"auth: open below its prefix", "", "svc_auth {\nopen /x/login # here\nprefix /x\n}", nil, []string{"open", "below the prefix /x"}},
	{"auth: identity header name", "", "svc_auth {\nidentity_headers {\nuser X_User # here\nrole X-Role\n}\n}", nil, []string{"identity_headers", "X_User", "letters, digits and hyphens"}},
	{"auth: identity header taken", "", "svc_auth {\nidentity_headers {\nrole X-Role\nuser Cookie # here\n}\n}", nil, []string{"identity_headers", "Cookie already means"}},
	{"auth: identity header twice", "", "svc_auth {\nidentity_headers { # here\nuser X-A\nrole X-A\n}\n}", nil, []string{"identity_headers", "X-A is given twice"}},
	{"auth: identity header unknown", "", "svc_auth {\nidentity_headers {\nname X-A # here\n}\n}", nil, []string{"identity_headers", `unknown name "name"`, "user, role or groups"}},
	{"auth: certificate role", "", "svc_auth {\nclient_certificate {\nroot cn:x # here\n}\n}", nil, []string{"client_certificate", "root"}},
	{"auth: certificate pattern", "", "svc_auth {\nclient_certificate {\nuser cn:x\nadmin ops # here\n}\n}", nil, []string{"client_certificate", `"ops"`, "want cn:"}},
	{"auth: certificate empty", "", "svc_auth {\nclient_certificate { # here\n}\n}", nil, []string{"client_certificate is empty", "admin cn:ops-*"}},
	{"auth: assertion header", "", stage("svc_auth", "assertion Host"), nil, []string{"assertion", "Host already means"}},
	{"auth: assertion like identity", "", "svc_auth {\nassertion X-Who # here\nidentity_headers {\nuser X-Who\n}\n}", nil, []string{"assertion", "X-Who is one of identity_headers"}},
	{"auth: assertion empty audience", "", "svc_auth {\nassertion {\naudience \"\" # here\n}\n}", nil, []string{"assertion", "audience takes exactly one value"}},

	// svc_scan
	{"scan: unknown option", "", stage("svc_scan", "maxscan 1MiB"), nil, []string{`unknown option "maxscan"`, "max_scan"}},
	{"scan: size without number", "", stage("svc_scan", "max_scan lots"), nil, []string{"max_scan", `"lots"`, "KiB"}},
	{"scan: wrong unit", "", stage("svc_scan", "max_scan 4mb"), nil, []string{"max_scan", `"4mb"`, "MiB"}},
	{"scan: negative", "", stage("svc_scan", "max_body -1"), nil, []string{"max_body", `"-1"`}},
	{"scan: zero", "", stage("svc_scan", "max_body 0"), nil, []string{"max_body", "4MiB"}},
	{"scan: overflow", "", stage("svc_scan", "max_body 99999999999999999999GiB"), nil, []string{"max_body", "out of range"}},
	{"scan: more than max_body", "", "svc_scan {\nmax_scan 2MiB\nmax_body 1MiB # here\nbodies request\n}", nil, []string{"max_scan is more than max_body"}},
	{"scan: more than the setting", "", "svc_scan {\nmax_scan 64MiB # here\n}", nil, []string{"max_scan", "limits.body_bytes", "set max_body"}},
	{"scan: more than a setting of its own", "limits {\nbody_bytes 64KiB\n}", "svc_scan {\nbodies request\nmax_scan 128KiB # here\n}", nil, []string{"max_scan", "limits.body_bytes"}},
	{"scan: duration without unit", "", stage("svc_scan", "max_wait 30"), nil, []string{"max_wait", "30s"}},
	{"scan: negative duration", "", stage("svc_scan", "max_wait -1s"), nil, []string{"max_wait", "positive"}},
	{"scan: action", "", stage("svc_scan", "action deny"), nil, []string{"action", `"deny"`, "block"}},
	{"scan: category", "", stage("svc_scan", "action block hijacking"), nil, []string{"action", `"hijacking"`, "role_hijacking"}},
	{"scan: two actions", "", stage("svc_scan", "action log\naction block"), nil, []string{"action", "two for all other categories"}},
	{"scan: shape", "", stage("svc_scan", "shape gpt"), nil, []string{"shape", `"gpt"`, "openai"}},
	{"scan: bodies", "", stage("svc_scan", "bodies requests"), nil, []string{"bodies", `"requests"`, "want request or response"}},
	{"scan: bodies twice", "", stage("svc_scan", "bodies request request"), nil, []string{"bodies", "request is given twice"}},
	{"scan: type", "", "svc_scan {\nbodies request {\npath /v1/*\ntype json # here\n}\n}", nil, []string{"bodies", `"json"`, "application/json"}},
	{"scan: path", "", "svc_scan {\nbodies request {\npath v1/* # here\n}\n}", nil, []string{"bodies", `"v1/*"`, "slash"}},
	{"scan: field", "", stage("svc_scan", "fields a[0].b"), nil, []string{"fields", "a[0].b"}},

	// svc_redact
	{"redact: secret too short", "", "svc_redact {\nmode redact\nsecret short # here\n}", nil, []string{"secret", "at least 8 bytes"}},
	{"redact: secret not set", "", "svc_redact {\nsecret long-enough-1\nsecret long-enough-2 {env.SVC_T_UNSET} # here\n}", nil, []string{"secrets", "value 3", "SVC_T_UNSET"}},
	{"redact: secret too short in a variable", "", "svc_redact {\nsecret {env.SVC_T_SHORT} # here\n}", []string{"SVC_T_SHORT=x"}, []string{"secrets", "at least 8 bytes"}},
	{"redact: no such file", "", "svc_redact {\nsecret {file./no/such/file} # here\n}", nil, []string{"secrets", "/no/such/file"}},
	{"redact: secret nothing", "", stage("svc_redact", "secret"), nil, []string{"secret takes at least one value"}},
	{"redact: media type", "", stage("svc_redact", "pass json"), nil, []string{"pass", "json"}},
	{"redact: allow what", "", stage("svc_redact", "allow cookie x"), nil, []string{"allow", `"cookie"`, "header, field, path or rule"}},
	{"redact: rule", "", stage("svc_redact", "allow rule json_web_tokens"), nil, []string{"allow", "json_web_token"}},
	{"redact: mode", "", stage("svc_redact", "mode dry"), nil, []string{"mode", `"dry"`, "want redact or observe"}},
	{"redact: mode twice", "", stage("svc_redact", "mode observe\nmode redact"), nil, []string{"mode is given twice"}},

	// svc_stream and svc_agents
	{"stream: keepalive too short", "", stage("svc_stream", "keepalive 10ms"), nil, []string{"keepalive", "shorter than 100ms", "such as 8s"}},
	{"stream: keepalive without unit", "", stage("svc_stream", "keepalive 8"), nil, []string{"keepalive", `"8"`, "8s"}},
	{"stream: negative", "", stage("svc_stream", "grace -1s"), nil, []string{"grace", "-1s is not positive"}},
	{"stream: overflow", "", stage("svc_stream", "write_timeout 99999999999h"), nil, []string{"write_timeout", "not a duration"}},
	{"stream: style of none", "", "svc_stream {\nkeepalive_style comment # here\nkeepalive off\ngrace 2s\n}", nil, []string{"keepalive_style", "keepalive off"}},
	{"stream: two values", "", stage("svc_stream", "grace 1s 2s"), nil, []string{"grace takes exactly one value"}},
	{"agents: option", "", stage("svc_agents", "model x"), nil, []string{"svc_agents", `"model"`, "global option svc"}},

	// the global option svc
	{"svc: section", "auht { # here\n}", "", nil, []string{"auht", "auth"}},
	{"svc: key", "auth {\nmodes token # here\n}", "", nil, []string{"auth.modes", "auth.mode"}},
	{"svc: mode", "auth {\nmode tokens # here\n}", "", nil, []string{"auth.mode", `"tokens"`, "token"}},
	{"svc: twice", "auth {\nmode token\nmode none # here\n}", "", nil, []string{"auth.mode is set twice"}},
	{"svc: block twice", "auth {\nmode token\n}\nauth { # here\n}", "", nil, []string{"auth appears twice"}},
	{"svc: number", "runtime {\nmax_steps many # here\n}", "", nil, []string{"runtime.max_steps", `"many"`}},
	{"svc: range", "runtime {\nmax_steps 0 # here\n}", "", nil, []string{"runtime.max_steps", "out of range"}},
	{"svc: duration", "runtime {\ntimeout 60 # here\n}", "", nil, []string{"runtime.timeout", "60s"}},
	{"svc: size", "limits {\nbody_bytes 4mb # here\n}", "", nil, []string{"limits.body_bytes", "MiB"}},
	{"svc: placeholder not set", "limits {\nrequests_burst 5\nbody_bytes {env.SVC_T_UNSET} # here\n}", "svc_auth", nil, []string{"limits.body_bytes", "SVC_T_UNSET"}},
	{"svc: placeholder with nonsense", "limits {\nrequests_burst 5\nbody_bytes {env.SVC_T_SIZE} # here\n}", "svc_auth", []string{"SVC_T_SIZE=lots"}, []string{"limits.body_bytes", "lots"}},
	{"svc: model without name", "model {\nbase_url http://127.0.0.1:1/v1\nprovider openai # here\n}", "svc_auth", nil, []string{"model.name is missing"}},
	{"svc: key not set", "model {\nprovider openai\nname x\napi_key_env SVC_T_UNSET # here\n}", "svc_auth", nil, []string{"model.api_key_env", "SVC_T_UNSET", "is not set"}},
	{"svc: origins of none", "auth {\nmode none\n}\ncors {\norigins * # here\n}", "svc_auth", nil, []string{"cors.origins", "auth.mode none"}},
	{"ldap: nothing", "auth {\nsession_ttl_hours 3\nmode ldap # here\n}", "svc_auth", nil, []string{"ldap.url is missing", "ldaps://ldap.example.com"}},
	{"ldap: no address", "auth {\nmode ldap\n}\nldap { # here\nbase_dn dc=x\nuser_groups x\n}", "svc_auth", nil, []string{"ldap.url is missing"}},
	{"ldap: no groups", "auth {\nmode ldap\n}\nldap { # here\n" + ldapMost + "\n}", "svc_auth", nil, []string{"ldap.user_groups is missing"}},
	{"ldap: both ways", ldap(ldapMost + "user_groups x\nbase_dn dc=x # here"), "svc_auth", nil, []string{"ldap.base_dn and ldap.user_template"}},
	{"ldap: no effect", ldap(ldapMost + "user_groups x\ninsecure true # here"), "svc_auth", nil, []string{"ldap.insecure has no effect"}},
	{"ldap: password not set", ldap(ldapMost + "user_groups x\nbind_dn cn=y\nbind_password {env.SVC_T_UNSET} # here"), "svc_auth", nil, []string{"ldap.bind_password", "SVC_T_UNSET is not set"}},
	{"ldap: password itself", ldap("bind_password hunter2 # here"), "svc_auth", nil, []string{"ldap.bind_password", "{env.NAME}"}},
	{"ldap: address", ldap("url https://ldap.example.com # here"), "svc_auth", nil, []string{"ldap.url", "ldaps://"}},
	{"oidc: no provider", "auth {\nmode token oidc # here\n}", "svc_auth", nil, []string{"auth.mode", "oidc <name>"}},
	{"oidc: no issuer", oidc("oidc ci {\n" + oidcMost + "user_groups *\n}\noidc corp { # here\nclient_id x\nuser_groups *\n}"), "svc_auth", nil, []string{"oidc corp", "issuer is missing", "https://login.example.com"}},
	{"oidc: no groups", oidc("oidc corp { # here\n" + oidcMost + "}"), "svc_auth", nil, []string{"oidc corp", "user_groups"}},
	{"oidc: no name", oidc("oidc { # here\n" + oidcMost + "}"), "svc_auth", nil, []string{"oidc", "a name is missing"}},
	{"oidc: secret not set", oidc("oidc corp {\n" + oidcMost + "client_secret {env.SVC_T_UNSET} # here\nuser_groups *\n}"), "svc_auth", nil, []string{"oidc corp", "client_secret", "SVC_T_UNSET is not set"}},
	{"oidc: issuer not set", oidc("oidc corp {\nissuer {env.SVC_T_UNSET} # here\nclient_id x\nuser_groups *\n}"), "svc_auth", nil, []string{"oidc[0].issuer", "SVC_T_UNSET"}},
	{"oidc: issuer with nonsense", oidc("oidc a {\n" + oidcMost + "user_groups *\n}\noidc b {\nclient_id x\nissuer {env.SVC_T_ISSUER} # here\nuser_groups *\n}"), "svc_auth", []string{"SVC_T_ISSUER=nonsense"}, []string{"issuer", "https://login.example.com"}},
	{"oidc: no such file", oidc("oidc corp { # here\n" + oidcMost + "ca_file /no/such/file\nuser_groups *\n}"), "svc_auth", nil, []string{"oidc corp", "ca_file", "/no/such/file"}},
	{"bus: no address", "bus { # here\ntimeout 1s\nkind redis\n}", "svc_auth", nil, []string{"bus.address is missing"}},
}

// TestMistakes holds that whatever is wrong in a Caddyfile is told with its file, its line and a way
// out, whether it shows when the Caddyfile is read or when what it became is loaded.
func TestMistakes(t *testing.T) {
	service := filepath.Join(build(t), "service")
	for _, m := range mistakes {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			if m.global == "" {
				m.global = "auth {\nmode token\n}"
			}
			text := fmt.Sprintf("{\nadmin off\nsvc {\n%s\n}\n}\n:2999 {\n%s\nrespond ok\n}\n", m.global, m.site)
			before, _, ok := strings.Cut(text, "# here")
			if !ok {
				t.Fatal("no line is marked")
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "Caddyfile"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), service, "validate", "--config", "Caddyfile")
			cmd.Dir = dir
			cmd.Env = append([]string{"HOME=" + dir, "SVC_HOME=" + filepath.Join(dir, "home"), "PATH=" + os.Getenv("PATH")}, m.env...)
			out, err := cmd.CombinedOutput()
			if err == nil {
				t.Fatalf("it is taken for right:\n%s", text)
			}
			said := strings.ReplaceAll(string(out), `\"`, `"`)
			place := fmt.Sprintf("Caddyfile:%d", 1+strings.Count(before, "\n"))
			if !regexp.MustCompile(place + `\b`).MatchString(said) {
				t.Errorf("%s is missing in\n%s", place, said)
			}
			for _, want := range m.want {
				if !strings.Contains(said, want) {
					t.Errorf("%q is missing in\n%s", want, said)
				}
			}
		})
	}
}
