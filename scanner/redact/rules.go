package redact

import (
	"slices"
	"strings"
)

// credentialWords are the words that announce a secret.
var credentialWords = [...]word{
	{spelling: "password", mark: "sword", kind: commonWord},
	{spelling: "community", mark: "unity", kind: publicWord},
	{spelling: "secret", mark: "ecret", kind: proseWord},
	{spelling: "key-string", mark: "tring", kind: configWord},
	{spelling: "pre-shared-key", mark: "[-_ d]key", kind: configWord},
	{spelling: "passwd", mark: "asswd", kind: commonWord},
	{spelling: "passphrase", mark: "hrase", kind: commonWord},
	{spelling: "shared-key", mark: "[-_ d]key", kind: configWord},
	{spelling: "-key", mark: "key", kind: namingWord, owners: keyOwners},
	{spelling: "token", mark: "token", kind: guardedWord},
	{spelling: "pwd", mark: "pwd", kind: guardedWord},
	{spelling: "session-id", mark: "ssionid|ssion_id|ssion-id", kind: guardedWord},
	{spelling: "sessid", mark: "essid", kind: guardedWord},
	{spelling: "_session", mark: "_session", kind: guardedWord},
	{spelling: ".sid", mark: ".sid", kind: guardedWord},
	{spelling: "sig", mark: "[?&]sig", kind: guardedWord},
	{spelling: "passcode", mark: "scode", kind: commonWord},
	{spelling: "passwort", mark: "swort", kind: namingWord},
	{spelling: "kennwort", mark: "nwort", kind: namingWord},
	{spelling: "contrase\u00f1a", mark: "se\u00f1a", kind: namingWord},
	{spelling: "mot de passe", mark: "e passe", kind: namingWord},
	{spelling: "senha", mark: "senha", kind: namingWord},
	{spelling: "\u5bc6\u7801", mark: "\u5bc6\u7801", kind: namingWord},
	{spelling: "\u5bc6\u78bc", mark: "\u5bc6\u78bc", kind: namingWord},
	{spelling: "\u30b9\u30ef\u30fc\u30c9", mark: "\u30b9\u30ef\u30fc\u30c9", kind: namingWord},
	{spelling: "\u0430\u0440\u043e\u043b\u044c", mark: "\u0430\u0440\u043e\u043b\u044c", kind: namingWord},
}

// rules are the kinds of secrets that are redacted. The tests run every example; one without
// an out stays as it is.
var rules = append([]rule{
	wordRule(credentialWords[0], []ruleTest{
		{"password: hunter2, then", "password: REDACTED, then"},
		{`{"password": "hunter2"}`, `{"password": "REDACTED"}`},
		{"DB_PASSWORD=hunter2\n", "DB_PASSWORD=REDACTED\n"},
		{"username bob password 7 0822455D0A16", "username bob password 7 REDACTED"},
		{"mysql --password hunter2 -u root", "mysql --password REDACTED -u root"},
		{"**Password:** `hunter2`", "**Password:** `REDACTED`"},
		{"The password for admin is Hunter2.", "The password for admin is REDACTED."},
		{"<password>hunter2</password>", "<password>REDACTED</password>"},
		{"a password is required", ""},
		{"Forgot your password? Reset the password here.", ""},
		{"password_policy: strict", ""},
	}),
	wordRule(credentialWords[1], []ruleTest{
		{"snmp-server community public RO", "snmp-server community REDACTED RO"},
		{"snmp-agent community write public", "snmp-agent community write REDACTED"},
		{"rocommunity public", "rocommunity REDACTED"},
		{"community = public", "community = REDACTED"},
		{"the community members", ""},
		{"set community 65000:100 additive", ""},
	}),
	wordRule(credentialWords[2], []ruleTest{
		{"enable secret 5 $1$mERr$hx5rVt7rPNoS4wqbXKX7m0", "enable secret 5 REDACTED"},
		{"username noc secret sha512 $6$salt$hash", "username noc secret sha512 REDACTED"},
		{"client_secret=abc&grant_type=x", "client_secret=REDACTED&grant_type=x"},
		{"AWS_SECRET_ACCESS_KEY: wJalrXUtnFEMI", "AWS_SECRET_ACCESS_KEY: REDACTED"},
		{"a secret meeting", ""},
	}),
	wordRule(credentialWords[3], []ruleTest{
		{" key-string 7 0822455D0A16", " key-string 7 REDACTED"},
		{"key_string = abc", "key_string = REDACTED"},
		{"the key-string is used", ""},
	}),
	wordRule(credentialWords[4], []ruleTest{
		{`pre-shared-key ascii-text "x y";`, `pre-shared-key ascii-text "REDACTED";`},
		{"pre-shared-key address 10.0.0.1 key abc", "pre-shared-key address 10.0.0.1 key REDACTED"},
		{"pre-shared-key local 0 abc", "pre-shared-key local 0 REDACTED"},
		{"set security macsec connectivity-association ca1 pre-shared-key cak 0a1b2c3d", "set security macsec connectivity-association ca1 pre-shared-key cak REDACTED"},
		{"set security macsec connectivity-association ca1 pre-shared-key ckn 37c9c2c4", ""},
		{"a pre-shared key must be long", ""},
	}),
	wordRule(credentialWords[5], []ruleTest{
		{"passwd 8Ry2YjIyt7RRXU24 encrypted", "passwd REDACTED encrypted"},
		{"/etc/passwd: permission denied", ""},
	}),
	wordRule(credentialWords[6], []ruleTest{
		{"wpa_passphrase=correct horse", "wpa_passphrase=REDACTED horse"},
	}),
	wordRule(credentialWords[7], []ruleTest{
		{"radius-server shared-key cipher %^%#abc%^%#", "radius-server shared-key cipher REDACTED"},
	}),
	wordRule(credentialWords[8], []ruleTest{
		{"api_key: abc123", "api_key: REDACTED"},
		{"x-api-key: abc123\n", "x-api-key: REDACTED\n"},
		{"AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq==;EndpointSuffix=x", "AccountKey=REDACTED;EndpointSuffix=x"},
		{"primary_key: id", ""},
		{"the API key is in the vault", ""},
	}),
	wordRule(credentialWords[9], []ruleTest{
		{"access_token=q2Lr9Tn4Vd0W&x=1", "access_token=REDACTED&x=1"},
		{`{"token": " hello"}`, ""},
		{"max_tokens: 1024", ""},
	}),
	wordRule(credentialWords[10], []ruleTest{
		{"Server=db;Uid=sa;Pwd=s3cr3tPa55;", "Server=db;Uid=sa;Pwd=REDACTED;"},
		{"PWD=/home/bob", ""},
	}),
	wordRule(credentialWords[11], []ruleTest{
		{"Cookie: sessionid=q2Lr9Tn4Vd0WkJm3; theme=dark", "Cookie: sessionid=REDACTED; theme=dark"},
		{"session_id = str(uuid.uuid4())", ""},
	}),
	wordRule(credentialWords[12], []ruleTest{{"Set-Cookie: PHPSESSID=q2lr9tn4vd0w; path=/", "Set-Cookie: PHPSESSID=REDACTED; path=/"}}),
	wordRule(credentialWords[13], []ruleTest{{"_app_session=q2Lr9Tn4Vd0WkJm3", "_app_session=REDACTED"}}),
	wordRule(credentialWords[14], []ruleTest{{"connect.sid=s%3Aq2Lr9Tn4Vd0W.kJm3", "connect.sid=REDACTED"}}),
	wordRule(credentialWords[15], []ruleTest{{"?sv=2020-08-04&sig=q2Lr9Tn4Vd0W%3D&sp=r", "?sv=2020-08-04&sig=REDACTED&sp=r"}}),
	wordRule(credentialWords[16], []ruleTest{{"passcode: 4711", "passcode: REDACTED"}}),
	wordRule(credentialWords[17], []ruleTest{{"Passwort: hunter2", "Passwort: REDACTED"}}),
	wordRule(credentialWords[18], []ruleTest{{"Kennwort = hunter2", "Kennwort = REDACTED"}}),
	wordRule(credentialWords[19], []ruleTest{{"contrase\u00f1a: hunter2", "contrase\u00f1a: REDACTED"}}),
	wordRule(credentialWords[20], []ruleTest{{"mot de passe : hunter2", "mot de passe : REDACTED"}}),
	wordRule(credentialWords[21], []ruleTest{{"senha=hunter2", "senha=REDACTED"}}),
	wordRule(credentialWords[22], []ruleTest{{"\u5bc6\u7801\uff1ahunter2", "\u5bc6\u7801\uff1aREDACTED"}}),
	wordRule(credentialWords[23], []ruleTest{{"\u5bc6\u78bc: hunter2", "\u5bc6\u78bc: REDACTED"}}),
	wordRule(credentialWords[24], []ruleTest{{"\u30d1\u30b9\u30ef\u30fc\u30c9: hunter2", "\u30d1\u30b9\u30ef\u30fc\u30c9: REDACTED"}}),
	wordRule(credentialWords[25], []ruleTest{{"\u041f\u0430\u0440\u043e\u043b\u044c: hunter2", "\u041f\u0430\u0440\u043e\u043b\u044c: REDACTED"}}),
	{
		name:   "command_flag",
		marks:  []string{" -u[ \t]", "--user[ =\t]", "sshpass -p[ \t]", "redis-cli -a[ \t]"},
		begins: flagged,
		head:   flagHead,
		tests: []ruleTest{
			{"curl -u bob:hunter2 https://example.com", "curl -u bob:REDACTED https://example.com"},
			{"curl --user 'bob:hunter2' x", "curl --user 'bob:REDACTED' x"},
			{"sshpass -p hunter2 ssh host", "sshpass -p REDACTED ssh host"},
			{"curl -u bob https://example.com:80", ""},
			{"sort -u a:b", ""},
		},
	},
	{
		name:  "service_token",
		marks: []string{"svc_"},
		exact: true,
		token: true,
		head:  openKeyHead,
		tests: []ruleTest{
			{"use svc_0123456789abcdefghijABCDEFGHIJ0123456789abcdefghi now", "use REDACTED now"},
			{"svc_redact comes after svc_scan", ""},
		},
	},
	{
		name:  "bearer",
		marks: []string{"bearer"},
		head:  bearerHead,
		tests: []ruleTest{
			{"Authorization: Bearer abc", "Authorization: Bearer REDACTED"},
			{"curl -H 'X: bearer 0a1b2c3d4e5f'", "curl -H 'X: bearer REDACTED'"},
			{"the bearer of this letter", ""},
		},
	},
	{
		name:  "authorization",
		marks: []string{"authorization"},
		head:  authorizationHead,
		tests: []ruleTest{
			{"Authorization: Token q2Lr9Tn4", "Authorization: Token REDACTED"},
			{"proxy-authorization: 0a1b2c3d4e5f", "proxy-authorization: REDACTED"},
			{"authorization: required", ""},
		},
	},
	{
		name:  "basic",
		marks: []string{"basic"},
		head:  basicHead,
		tests: []ruleTest{
			{"Basic YWRtaW46aHVudGVyMg==", "Basic REDACTED"},
			{"Authorization: Basic abc", "Authorization: Basic REDACTED"},
			{"Basic understanding of JavaScript", ""},
		},
	},
	{
		name:  "json_web_token",
		marks: []string{"eyJ"},
		exact: true,
		token: true,
		head:  jwtHead,
		tests: []ruleTest{
			{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl.", "REDACTED."},
			{"cursor=eyJpZCI6MTIzfQ==", ""},
		},
	},
	{
		name:  "url_password",
		marks: []string{"://"},
		head:  urlHead,
		tests: []ruleTest{
			{"postgres://bob:hunter2@db:5432/x", "postgres://bob:REDACTED@db:5432/x"},
			{"redis://:p@ss@cache", "redis://:REDACTED@cache"},
			{"http://localhost:2280/health", ""},
			{"https://example.com:8443", ""},
		},
	},
	{
		name:   "private_key",
		marks:  []string{"EY--", "CK--"},
		exact:  true,
		begins: armoured,
		head:   armourHead,
		tests: []ruleTest{
			{"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhki\nG9w0=\n-----END PRIVATE KEY-----\n", "-----BEGIN PRIVATE KEY-----\nREDACTED\n-----END PRIVATE KEY-----\n"},
			{"the line -----BEGIN PRIVATE KEY----- comes first", ""},
			{"-----BEGIN PUBLIC KEY-----\nMIIEvQIBADANBgkqhki", ""},
		},
	},
	{
		name:  "password_hash",
		marks: []string{"$[0123456789y]$", "$2[aby]$"},
		exact: true,
		token: true,
		head:  cryptHead,
		tests: []ruleTest{
			{"root:$6$abcdefgh$ijklmnop:19000:0", "root:REDACTED:19000:0"},
			{"echo $1$2", ""},
		},
	},
}, slices.Concat(vendorKeys, configRules())...)

// wordRule makes a rule of a credential word.
func wordRule(w word, tests []ruleTest) rule {
	return rule{name: w.spelling, marks: strings.Split(w.mark, "|"), begins: w.begins, head: w.head, word: &w, tests: tests}
}

// marks are the marks of the rules.
var marks *automaton

func init() { marks = newAutomaton(rules) }
