package app_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	_ "github.com/caddyserver/caddy/v2/modules/standard"
	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/internal/settings"
)

// adapt returns the app's JSON of a Caddyfile with these global options.
func adapt(t *testing.T, options string) (string, error) {
	t.Helper()
	adapter := caddyfile.Adapter{ServerType: httpcaddyfile.ServerType{}}
	out, _, err := adapter.Adapt([]byte("{\n"+options+"\n}\n"), map[string]any{"filename": "Caddyfile"})
	if err != nil {
		return "", err
	}
	var doc struct {
		Apps map[string]json.RawMessage `json:"apps"`
	}
	if err := json.Unmarshal(out, &doc); err != nil {
		t.Fatal(err)
	}
	return string(doc.Apps["svc"]), nil
}

func TestCaddyfile(t *testing.T) {
	for _, tt := range []struct{ name, options, want string }{
		{"none", "", ""},
		{"empty", "svc", `{}`},
		{"empty section", "svc {\nauth {\n}\n}", `{"auth":{}}`},
		{"auth", "svc {\nauth {\nmode token none\nsession_ttl_hours 8\n}\n}", `{"auth":{"mode":["token","none"],"session_ttl_hours":8}}`},
		{
			"runtime", "svc {\nruntime {\ntimeout 30s\nproject_root /srv\nmax_steps 3\nmax_tokens 9\nrun_timeout 5m\n}\n}",
			`{"runtime":{"max_steps":3,"max_tokens":9,"project_root":"/srv","run_timeout":"5m0s","timeout":"30s"}}`,
		},
		{
			"model", "svc {\nmodel {\nprovider openai\nbase_url http://127.0.0.1:11434/v1\nname qwen3\napi_key_env KEY\ntimeout 9s\nmax_retries 0\n}\n}",
			`{"model":{"api_key_env":"KEY","base_url":"http://127.0.0.1:11434/v1","max_retries":0,"name":"qwen3","provider":"openai","timeout":"9s"}}`,
		},
		{
			"limits and cors", "svc {\nlimits {\nbody_bytes 8MiB\nruns_per_minute 5\nparallel_runs 2\n}\ncors {\norigins https://a.example *\n}\n}",
			`{"cors":{"origins":["https://a.example","*"]},"limits":{"body_bytes":8388608,"parallel_runs":2,"runs_per_minute":5}}`,
		},
		{
			"oidc", "svc {\noidc corp {\nissuer https://a.example\nclient_id svc\nclient_secret {env.SECRET}\nscopes openid groups\nadmin_groups \"Domain Admins\" ops\nuserinfo\n}\noidc ci {\nissuer {env.CI}\naudience api\nuserinfo false\n}\n}",
			`{"oidc":[{"admin_groups":["Domain Admins","ops"],"client_id":"svc","client_secret":"{env.SECRET}","issuer":"https://a.example","name":"corp","scopes":["openid","groups"],"userinfo":true},` +
				`{"audience":["api"],"issuer":"{env.CI}","name":"ci","userinfo":false}]}`,
		},
		{
			"async_subagent", "svc {\nasync_subagent net {\nurl https://r.example\nassistant_id core\n}\nauth {\nmode token\n}\nasync_subagent b {\nurl {env.B}\n}\n}",
			`{"async_subagents":[{"assistant_id":"core","name":"net","url":"https://r.example"},{"name":"b","url":"{env.B}"}],"auth":{"mode":["token"]}}`,
		},
		{"truth value", "svc {\nldap {\nnested\n}\n}", `{"ldap":{"nested":true}}`},
		{
			"bus", "svc {\nbus {\nkind redis\naddress rediss://a.example b.example:6380\nmode cluster\nuser svc\npassword {env.REDIS}\ntls true\nserver_name redis.example\n" +
				"ca_file /ca.pem\ncert_file /c.pem\nkey_file /k.pem\nprefix one:\ntimeout 500ms\n}\n}",
			`{"bus":{"address":["rediss://a.example","b.example:6380"],"ca_file":"/ca.pem","cert_file":"/c.pem","key_file":"/k.pem","kind":"redis","mode":"cluster",` +
				`"password":"{env.REDIS}","prefix":"one:","server_name":"redis.example","timeout":"500ms","tls":true,"user":"svc"}}`,
		},
		{
			"bus with sentinels", "svc {\nbus redis a:1 b:1 {\nmode sentinel\nmaster_name main\ndatabase 2\nsentinel_user watch\nsentinel_password {file./run/secret}\n}\n}",
			`{"bus":{"address":["a:1","b:1"],"database":2,"kind":"redis","master_name":"main","mode":"sentinel","sentinel_password":"{file./run/secret}","sentinel_user":"watch"}}`,
		},
		{"bus in short", "svc {\nbus redis 127.0.0.1:6379\n}", `{"bus":{"address":["127.0.0.1:6379"],"kind":"redis"}}`},
		{"bus with a placeholder", "svc {\nbus redis {env.REDIS}\n}", `{"bus":{"address":["{env.REDIS}"],"kind":"redis"}}`},
		{"bus in memory", "svc {\nbus memory\n}", `{"bus":{"kind":"memory"}}`},
		{"placeholder", "svc {\nmodel {\nname {env.MODEL}\n}\n}", `{"model":{"name":"{env.MODEL}"}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := adapt(t, tt.options)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, withoutPlaces(t, got)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// withoutPlaces leaves out where the values were written.
func withoutPlaces(t *testing.T, doc string) string {
	t.Helper()
	if doc == "" {
		return ""
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(doc), &members); err != nil {
		t.Fatal(err)
	}
	delete(members, "places")
	rest, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return string(rest)
}

func TestCaddyfileKeepsPlaces(t *testing.T) {
	doc, err := adapt(t, "svc {\nauth {\nmode token\n}\nbus redis {env.R} {\ntls true\n}\noidc a {\nissuer {env.A}\n}\noidc b {\nissuer {env.B}\n}\n}")
	if err != nil {
		t.Fatal(err)
	}
	want := settings.Places{
		"auth": "Caddyfile:3", "auth.mode": "Caddyfile:4", "bus": "Caddyfile:6", "bus.tls": "Caddyfile:7",
		"oidc[0]": "Caddyfile:9", "oidc[0].issuer": "Caddyfile:10", "oidc[1]": "Caddyfile:12", "oidc[1].issuer": "Caddyfile:13",
	}
	if d := cmp.Diff(want, settings.PlacesIn([]byte(doc))); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestCaddyfileErrors(t *testing.T) {
	for _, tt := range []struct{ name, options, want string }{
		{"argument", "svc on", `svc takes no argument, found "on": open a block, at Caddyfile:2`},
		{"twice", "svc\nsvc", `svc is set twice: put all sections into one block, at Caddyfile:3`},
		{"unknown section", "svc {\nauht {\n}\n}", `auht is not a setting; did you mean auth?, at Caddyfile:3`},
		{"section twice", "svc {\nauth {\n}\nauth {\n}\n}", `section auth appears twice: put its settings into one block, at Caddyfile:5`},
		{"section argument", "svc {\nauth token\n}", `section auth takes no argument, found "token": open a block, at Caddyfile:3`},
		{"unknown key", "svc {\nauth {\nmod token\n}\n}", `auth.mod is not a setting; did you mean auth.mode?, at Caddyfile:4`},
		{"key twice", "svc {\nauth {\nmode token\nmode none\n}\n}", `auth.mode is set twice, at Caddyfile:5`},
		{"no value", "svc {\nmodel {\nname\n}\n}", `model.name: a value is missing, at Caddyfile:4`},
		{"empty value", "svc {\nmodel {\nname \"\"\n}\n}", `model.name: the value is empty: give one or leave the line out, at Caddyfile:4`},
		{"extra value", "svc {\nmodel {\nname a b\n}\n}", `model.name: one value is expected, 2 are given, at Caddyfile:4`},
		{"block", "svc {\nauth {\nmode token {\nx\n}\n}\n}", `auth.mode takes no block, at Caddyfile:5`},
		{"bad value", "svc {\nauth {\nmode saml\n}\n}", `auth.mode: "saml" is not a mode: use none, token, ldap or oidc, at Caddyfile:4`},
		{"secret", "svc {\nldap {\nbind_password hunter2\n}\n}", `ldap.bind_password: this is not {env.NAME} or {file./path}: put the secret into a variable or a file and say here where it is, never the secret itself, at Caddyfile:4`},
		{"range", "svc {\nruntime {\nmax_steps 0\n}\n}", `runtime.max_steps: 0 is out of range: use 1 to 1000, at Caddyfile:4`},
		{"key as value", "svc {\nmodel {\napi_key_env sk-abc\n}\n}", `model.api_key_env: this is not the name of an environment variable: put the key into a variable and write its name here, never the key, at Caddyfile:4`},
		{"oidc without a name", "svc {\noidc {\n}\n}", `oidc: a name is missing: write oidc <name> and a block, at Caddyfile:3`},
		{"oidc name", "svc {\noidc Corp {\n}\n}", `oidc: "Corp" is not a name for an identity provider: use 1 to 32 lowercase letters, digits and -, at Caddyfile:3`},
		{"oidc names", "svc {\noidc a b {\n}\n}", `oidc takes one name, found "b" as well, at Caddyfile:3`},
		{"oidc field", "svc {\noidc a {\nisuer x\n}\n}", `oidc has no isuer; did you mean issuer?, at Caddyfile:4`},
		{"oidc field twice", "svc {\noidc a {\nlabel x\nlabel y\n}\n}", `oidc.label is set twice, at Caddyfile:5`},
		{"oidc no value", "svc {\noidc a {\nlabel\n}\n}", `oidc.label: a value is missing, at Caddyfile:4`},
		{"oidc two values", "svc {\noidc a {\nlabel x y\n}\n}", `oidc.label: one value is expected, 2 are given, at Caddyfile:4`},
		{"oidc bad value", "svc {\noidc a {\nleeway 1\n}\n}", `oidc.leeway: "1" is not a duration: write a number with its unit, such as 500ms, 60s, 10m or 2h, at Caddyfile:4`},
		{"oidc block", "svc {\noidc a {\nlabel x {\ny\n}\n}\n}", `oidc.label takes no block, at Caddyfile:5`},
		{"oidc secret", "svc {\noidc a {\nclient_secret sk-abc\n}\n}", `oidc.client_secret: this is not {env.NAME} or {file./path}: put the secret into a variable or a file and say here where it is, never the secret itself, at Caddyfile:4`},
		{"oidc twice", "svc {\noidc a {\n}\noidc a {\n}\n}", `oidc a appears twice: give each its own name, at Caddyfile:5`},
		{"oidc name in the block", "svc {\noidc a {\nname b\n}\n}", `oidc.name: write the name in front of the block, oidc <name> { … }, at Caddyfile:4`},
		{"bus kind", "svc {\nbus valkey\n}", `bus.kind: "valkey" is not a kind of bus: use memory or redis, at Caddyfile:3`},
		{"bus kind twice", "svc {\nbus redis a:1 {\nkind redis\n}\n}", `bus.kind is set twice, at Caddyfile:4`},
		{"bus address twice", "svc {\nbus redis a:1 {\naddress b:1\n}\n}", `bus.address is set twice, at Caddyfile:4`},
		{"bus address", "svc {\nbus redis localhost\n}", `bus.address: this is not an address such as 127.0.0.1:6379, /run/redis/redis.sock or rediss://redis.example.com, at Caddyfile:3`},
		{"bus address with a password", "svc {\nbus redis redis://:sk-abc@a\n}", `bus.address: an address must not carry a user or password: use bus.user, and bus.password with {env.NAME} or {file./path}, at Caddyfile:3`},
		{"bus mode", "svc {\nbus {\nmode solo\n}\n}", `bus.mode: "solo" is not a mode`},
		{"bus key", "svc {\nbus {\nmastername x\n}\n}", `bus.mastername is not a setting; did you mean bus.master_name?, at Caddyfile:4`},
		{"bus password", "svc {\nbus {\npassword sk-abc\n}\n}", `bus.password: this is not {env.NAME} or {file./path}`},
		{"bus database", "svc {\nbus {\ndatabase -1\n}\n}", `bus.database: -1 is out of range: use 0 to 65535, at Caddyfile:4`},
		{"bus prefix", "svc {\nbus {\nprefix a*\n}\n}", `bus.prefix: this is not a prefix for keys`},
		{"bus timeout", "svc {\nbus {\ntimeout 1\n}\n}", `bus.timeout: "1" is not a duration`},
		{"oidc incomplete", "svc {\nauth {\nmode oidc\n}\noidc a {\nclient_id svc\nuser_groups x\n}\n}", `oidc a: issuer is missing: write the provider's issuer identifier, such as https://login.example.com, at Caddyfile:6`},
		{"oidc without a role", "svc {\noidc ok {\nissuer https://a.example\nclient_id svc\nclient_secret {env.S}\nuser_groups x\n}\noidc b {\nissuer https://b.example\naudience x\n}\n}", `oidc b: nobody would get a role: write admin_groups, user_groups or readonly_groups (* is everybody), at Caddyfile:9`},
		{"oidc without TLS", "svc {\noidc b {\nissuer http://b.example\naudience x\nuser_groups x\n}\n}", `oidc b: issuer: use https; insecure allows http on another host, at Caddyfile:3`},
		{"ldap base", "svc {\nldap {\nurl ldaps://a\nbase_dn people\n}\n}", `ldap.base_dn: "people" is not a distinguished name such as ou=people,dc=example,dc=com, at Caddyfile:5`},
		{"ldap filter", "svc {\nldap {\nfilter (uid=%u\n}\n}", `ldap.filter: "(uid=%u" is not a filter such as (uid=%u) (RFC 4515), at Caddyfile:4`},
		{"ldap filter of another program", "svc {\nldap {\nfilter (uid={user})\n}\n}", `ldap.filter: write %u instead of {user}: it stands for the name that the user gives, at Caddyfile:4`},
		{"another one", "svc {\nldap {\nfilter (&(objectClass=person)(uid={0}))\n}\n}", `ldap.filter: write %u instead of {0}`},
		{"a third", "svc {\nldap {\nfilter (uid=%s)\n}\n}", `ldap.filter: write %u instead of %s`},
		{"ldap template of another program", "svc {\nldap {\nuser_template uid={username},dc=x\n}\n}", `ldap.user_template: write %u instead of {username}`},
		{"ldap group", "svc {\nldap {\nuser_groups staff cn=a,,\n}\n}", `ldap.user_groups: "cn=a,," is not a distinguished name such as ou=people,dc=example,dc=com, at Caddyfile:4`},
		{"subagents", "svc {\nasync_subagents {\n}\n}", `async_subagents is a list: write a block async_subagent <name> { … } for each of it, at Caddyfile:3`},
		{"subagent field", "svc {\nasync_subagent a {\nasistant_id x\n}\n}", `async_subagent has no asistant_id; did you mean assistant_id?, at Caddyfile:4`},
		{"subagent value", "svc {\nasync_subagent a {\nurl x\n}\n}", `async_subagent.url: this is not an http or https address such as http://127.0.0.1:11434/v1, at Caddyfile:4`},
		{"misspelt block", "svc {\nasync_subagnt a {\n}\n}", `async_subagnt is not a setting; did you mean async_subagent?, at Caddyfile:3`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := adapt(t, tt.options)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want one with %q", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "sk-abc") {
				t.Errorf("the error repeats a key: %v", err)
			}
		})
	}
}
