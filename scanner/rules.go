package scanner

import "slices"

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
	return rule{name: w.spelling, marks: []string{w.mark}, begins: w.begins, head: w.head, word: &w, tests: tests}
}

// marks are the marks of the rules.
var marks *automaton

func init() { marks = newAutomaton(rules) }
