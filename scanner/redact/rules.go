package redact

import (
	"slices"
	"strings"

	"github.com/svc-gateway/svc/scanner/internal/text"
	"github.com/svc-gateway/svc/scanner/redact/flags"
	"github.com/svc-gateway/svc/scanner/redact/literal"
	"github.com/svc-gateway/svc/scanner/redact/looks"
	"github.com/svc-gateway/svc/scanner/redact/words"
)

// credentialWords are the words that announce a secret.
var credentialWords = []struct {
	word
	examples []example
}{
	{word{spelling: "password", mark: "sword", kind: commonWord}, []example{
		{"password: hunter2, then", "password: REDACTED, then"},
		{`{"password": "hunter2"}`, `{"password": "REDACTED"}`},
		{"DB_PASSWORD=hunter2\n", "DB_PASSWORD=REDACTED\n"},
		{"username bob password 7 0822455D0A16", "username bob password 7 REDACTED"},
		{"mysql --password hunter2 -u root", "mysql --password REDACTED -u root"},
		{`var password string = "hunter2"`, `var password string = "REDACTED"`},
		{`password = []byte("hunter2")`, `password = []byte("REDACTED")`},
		{`let password = String::from("hunter2");`, `let password = String::from("REDACTED");`},
		{`static PASSWORD: &'static str = "hunter2";`, `static PASSWORD: &'static str = "REDACTED";`},
		{`password: Optional[str] = "hunter2"`, `password: Optional[str] = "REDACTED"`},
		{`password?: string = "hunter2"`, `password?: string = "REDACTED"`},
		{`char password[32] = "hunter2";`, `char password[32] = "REDACTED";`},
		{`public string Password { get; set; } = "hunter2";`, `public string Password { get; set; } = "REDACTED";`},
		{"Password string `json:\"password\"`", ""},
		{`let password = String::from_utf8(bytes)`, ""},
		{"**Password:** `hunter2`", "**Password:** `REDACTED`"},
		{"The password for admin is Hunter2.", "The password for admin is REDACTED."},
		{"<password>hunter2</password>", "<password>REDACTED</password>"},
		{"- name: DB_PASSWORD\n  value: swordfish\n", "- name: DB_PASSWORD\n  value: REDACTED\n"},
		{"name  = \"DB_PASSWORD\"\nvalue = \"swordfish\"\n", "name  = \"DB_PASSWORD\"\nvalue = \"REDACTED\"\n"},
		{"define( 'DB_PASSWORD', 'swordfish' );", "define( 'DB_PASSWORD', 'REDACTED' );"},
		{"- name: DB_PASSWORD\n  valueFrom: swordfish\n", ""},
		{"a password is required", ""},
		{"Forgot your password? Reset the password here.", ""},
		{"password_policy: strict", ""},
	}},
	{word{spelling: "community", mark: "unity", kind: publicWord}, []example{
		{"snmp-server community public RO", "snmp-server community REDACTED RO"},
		{"snmp-agent community write public", "snmp-agent community write REDACTED"},
		{"rocommunity public", "rocommunity REDACTED"},
		{"community = public", "community = REDACTED"},
		{"the community members", ""},
		{"set community 65000:100 additive", ""},
	}},
	{word{spelling: "secret", mark: "ecret", kind: proseWord}, []example{
		{"enable secret 5 $1$mERr$hx5rVt7rPNoS4wqbXKX7m0", "enable secret 5 REDACTED"},
		{"username noc secret sha512 $6$salt$hash", "username noc secret sha512 REDACTED"},
		{"client_secret=abc&grant_type=x", "client_secret=REDACTED&grant_type=x"},
		{"AWS_SECRET_ACCESS_KEY: wJalrXUtnFEMI", "AWS_SECRET_ACCESS_KEY: REDACTED"},
		{"a secret meeting", ""},
	}},
	{word{spelling: "key-string", mark: "tring", kind: configWord}, []example{
		{" key-string 7 0822455D0A16", " key-string 7 REDACTED"},
		{"key_string = abc", "key_string = REDACTED"},
		{"the key-string is used", ""},
	}},
	{word{spelling: "pre-shared-key", mark: "[-_ d]key", kind: configWord}, []example{
		{`pre-shared-key ascii-text "x y";`, `pre-shared-key ascii-text "REDACTED";`},
		{"pre-shared-key address 10.0.0.1 key abc", "pre-shared-key address 10.0.0.1 key REDACTED"},
		{"pre-shared-key local 0 abc", "pre-shared-key local 0 REDACTED"},
		{"set security macsec connectivity-association ca1 pre-shared-key cak 0a1b2c3d", "set security macsec connectivity-association ca1 pre-shared-key cak REDACTED"},
		{"set security macsec connectivity-association ca1 pre-shared-key ckn 37c9c2c4", ""},
		{"a pre-shared key must be long", ""},
	}},
	{word{spelling: "passwd", mark: "asswd", kind: commonWord}, []example{
		{"passwd 8Ry2YjIyt7RRXU24 encrypted", "passwd REDACTED encrypted"},
		{"/etc/passwd: permission denied", ""},
	}},
	{word{spelling: "passphrase", mark: "hrase", kind: commonWord}, []example{
		{"wpa_passphrase=correct horse", "wpa_passphrase=REDACTED horse"},
		{"Choose a passphrase that nobody guesses.", ""},
	}},
	{word{spelling: "shared-key", mark: "[-_ d]key", kind: configWord}, []example{
		{"radius-server shared-key cipher %^%#abc%^%#", "radius-server shared-key cipher REDACTED"},
		{"the shared-key is set", ""},
	}},
	{word{spelling: "-key", mark: "key", kind: namingWord, owners: words.KeyOwners}, []example{
		{"api_key: abc123", "api_key: REDACTED"},
		{"x-api-key: abc123\n", "x-api-key: REDACTED\n"},
		{"AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq==;EndpointSuffix=x", "AccountKey=REDACTED;EndpointSuffix=x"},
		{"primary_key: id", ""},
		{"the API key is in the vault", ""},
	}},
	{word{spelling: "token", mark: "token", kind: guardedWord}, []example{
		{"access_token=q2Lr9Tn4Vd0W&x=1", "access_token=REDACTED&x=1"},
		{`var token string = "q2Lr9Tn4Vd0WkJm3"`, `var token string = "REDACTED"`},
		{`var token string = "identifier"`, ""},
		{`{"token": " hello"}`, ""},
		{"max_tokens: 1024", ""},
	}},
	{word{spelling: "pwd", mark: "pwd", kind: shortWord}, []example{
		{"Server=db;Uid=sa;Pwd=s3cr3tPa55;", "Server=db;Uid=sa;Pwd=REDACTED;"},
		{"PWD=/home/bob", ""},
		{"bob@10.0.0.1, pwd:IhqSb1Gg", "bob@10.0.0.1, pwd:REDACTED"},
	}},
	{word{spelling: "pass", mark: "pass", kind: shortWord, apart: true}, []example{
		{"db_pass = swordfish", "db_pass = REDACTED"},
		{"user: bob, pass: hunter2x", "user: bob, pass: REDACTED"},
		{"pass: 12, fail: 3", ""},
		{"first pass: done", ""},
		{"the pass of Gotthard", ""},
	}},
	{word{spelling: "pw", mark: "pw", kind: shortWord, apart: true}, []example{
		{"pw:Zk3!xx9", "pw:REDACTED"},
		{"ssh bob@10.0.0.1 (PW: Hunter2x)", "ssh bob@10.0.0.1 (PW: REDACTED)"},
		{"const pw = await read()", ""},
		{"25 pw: ok", ""},
	}},
	{word{spelling: "key", mark: "key", kind: guardedWord, apart: true}, []example{
		{"algolia_key: 0afae57f3ccfd9d7f5767067bc48b30f", "algolia_key: REDACTED"},
		{"using key=o8oqti3tghu2xic76ii4t7jb9bxuzd42", "using key=REDACTED"},
		{"public_key = 9Cnzj4p4WGeKLs1Pt8QuKUpRKfFLfRYC9", ""},
		{`{"key":"o8oqti3tghu2xic76ii4t7jb9bxuzd42"}`, ""},
		{"key: value", ""},
	}},
	{word{spelling: "auth", mark: "auth", kind: guardedWord, apart: true}, []example{
		{`"user_auth": "am9obmRvZTpkMDY5NGIxYi1jMTcxLTQ4ODY"`, `"user_auth": "REDACTED"`},
		{"auth: basic", ""},
	}},
	{word{spelling: "api", mark: "api", kind: guardedWord, apart: true}, []example{
		{`weather_api = "DvMB_glvwjlEQ_uqIyn8k"`, `weather_api = "REDACTED"`},
		{"api: v1beta2", ""},
	}},
	{word{spelling: "credential", mark: "ential", kind: guardedWord, apart: true}, []example{
		{`aws_credentials = "K2u6mFw8wJOsAf"`, `aws_credentials = "REDACTED"`},
		{"credentials: include", ""},
	}},
	{word{spelling: "creds", mark: "creds", kind: guardedWord, apart: true}, []example{
		{"creds = Zf3D0LXCM3EIMbgJpUNnkRtOfOue", "creds = REDACTED"},
		{"creds: none", ""},
	}},
	{word{spelling: "session", mark: "ssion", kind: guardedWord, apart: true}, []example{
		{"Set-Cookie: session=Zx81Qm0aVb72Lc93NdKe64Pf; Path=/", "Set-Cookie: session=REDACTED; Path=/"},
		{"session: started", ""},
	}},
	{word{spelling: "mailchimp", mark: "lchimp", kind: guardedWord}, []example{
		{"mailchimp: 0123456789abcdef01f3456789abc3ef-us12", "mailchimp: REDACTED"},
		{"mailchimp: newsletters", ""},
	}},
	{word{spelling: "phash", mark: "phash", kind: configWord, apart: true}, []example{
		{"<phash>fnRL/G5lXVMug</phash>", "<phash>REDACTED</phash>"},
		{"the phash is shown", ""},
	}},
	{word{spelling: "session-id", mark: "ssionid|ssion_id|ssion-id", kind: guardedWord}, []example{
		{"Cookie: sessionid=q2Lr9Tn4Vd0WkJm3; theme=dark", "Cookie: sessionid=REDACTED; theme=dark"},
		{"session_id = str(uuid.uuid4())", ""},
	}},
	{word{spelling: "sessid", mark: "essid", kind: guardedWord}, []example{
		{"Set-Cookie: PHPSESSID=q2lr9tn4vd0w; path=/", "Set-Cookie: PHPSESSID=REDACTED; path=/"},
		{"PHPSESSID=deleted; path=/", ""},
	}},
	{word{spelling: "_session", mark: "_session", kind: guardedWord}, []example{
		{"_app_session=q2Lr9Tn4Vd0WkJm3", "_app_session=REDACTED"},
		{"start_session = true", ""},
	}},
	{word{spelling: ".sid", mark: ".sid", kind: guardedWord}, []example{
		{"connect.sid=s%3Aq2Lr9Tn4Vd0W.kJm3", "connect.sid=REDACTED"},
		{"connect.sid: string", ""},
	}},
	{word{spelling: "sig", mark: "[?&]sig", kind: guardedWord}, []example{
		{"?sv=2020-08-04&sig=q2Lr9Tn4Vd0W%3D&sp=r", "?sv=2020-08-04&sig=REDACTED&sp=r"},
		{"?sig=none&x=1", ""},
	}},
	{word{spelling: "passcode", mark: "scode", kind: commonWord}, []example{
		{"passcode: 4711", "passcode: REDACTED"},
		{"Enter the passcode that is shown.", ""},
	}},
	{word{spelling: "\ube44\ubc00\ubc88\ud638", mark: "\ubc88\ud638", kind: namingWord}, []example{
		{"\ube44\ubc00\ubc88\ud638:hunter2", "\ube44\ubc00\ubc88\ud638:REDACTED"},
		{"\ube44\ubc00\ubc88\ud638 \ubcc0\uacbd", ""},
	}},
	{word{spelling: "\ud328\uc2a4\uc6cc\ub4dc", mark: "\uc6cc\ub4dc", kind: namingWord}, []example{
		{"\ud328\uc2a4\uc6cc\ub4dc=hunter2", "\ud328\uc2a4\uc6cc\ub4dc=REDACTED"},
		{"\ud328\uc2a4\uc6cc\ub4dc \ubcc0\uacbd", ""},
	}},
	{word{spelling: "passwort", mark: "swort", kind: namingWord}, []example{
		{"Passwort: hunter2", "Passwort: REDACTED"},
		{"Passwort vergessen?", ""},
	}},
	{word{spelling: "kennwort", mark: "nwort", kind: namingWord}, []example{
		{"Kennwort = hunter2", "Kennwort = REDACTED"},
		{"Das Kennwort ist abgelaufen.", ""},
	}},
	{word{spelling: "contrase\u00f1a", mark: "se\u00f1a", kind: namingWord}, []example{
		{"contrase\u00f1a: hunter2", "contrase\u00f1a: REDACTED"},
		{"la contrase\u00f1a ha caducado", ""},
	}},
	{word{spelling: "mot de passe", mark: "e passe", kind: namingWord}, []example{
		{"mot de passe : hunter2", "mot de passe : REDACTED"},
		{"un mot de passe oubli\u00e9", ""},
	}},
	{word{spelling: "senha", mark: "senha", kind: namingWord}, []example{
		{"senha=hunter2", "senha=REDACTED"},
		{"a senha expirou", ""},
	}},
	{word{spelling: "\u5bc6\u7801", mark: "\u5bc6\u7801", kind: namingWord}, []example{
		{"\u5bc6\u7801\uff1ahunter2", "\u5bc6\u7801\uff1aREDACTED"},
		{"\u5fd8\u8bb0\u5bc6\u7801", ""},
	}},
	{word{spelling: "\u5bc6\u78bc", mark: "\u5bc6\u78bc", kind: namingWord}, []example{
		{"\u5bc6\u78bc: hunter2", "\u5bc6\u78bc: REDACTED"},
		{"\u5fd8\u8a18\u5bc6\u78bc", ""},
	}},
	{word{spelling: "\u30b9\u30ef\u30fc\u30c9", mark: "\u30b9\u30ef\u30fc\u30c9", kind: namingWord}, []example{
		{"\u30d1\u30b9\u30ef\u30fc\u30c9: hunter2", "\u30d1\u30b9\u30ef\u30fc\u30c9: REDACTED"},
		{"\u30d1\u30b9\u30ef\u30fc\u30c9\u3092\u5fd8\u308c\u305f", ""},
	}},
	{word{spelling: "\u0430\u0440\u043e\u043b\u044c", mark: "\u0430\u0440\u043e\u043b\u044c", kind: namingWord}, []example{
		{"\u041f\u0430\u0440\u043e\u043b\u044c: hunter2", "\u041f\u0430\u0440\u043e\u043b\u044c: REDACTED"},
		{"\u041f\u0430\u0440\u043e\u043b\u044c \u0438\u0441\u0442\u0451\u043a", ""},
	}},
}

// standardRules know a secret by what stands before it or by how it looks.
var standardRules = []rule{
	{
		name:   "command_flag",
		marks:  flags.Marks(),
		begins: func(before []byte) bool { return flags.Of(lastLine(before)) != flags.Option{} },
		head:   flagHead,
		examples: []example{
			{"curl -u bob:hunter2 https://example.com", "curl -u bob:REDACTED https://example.com"},
			{"sort -u a:b", ""},
		},
	},
	{
		name:  "identified_by",
		marks: []string{"identified by ", "_password by "}, // IDENTIFIED WITH mysql_native_password BY
		begins: func(before []byte) bool {
			return text.ContainsFold(lastLine(before), "create user ") || text.ContainsFold(lastLine(before), "alter user ") || text.ContainsFold(lastLine(before), "grant ")
		},
		head: quotedHead,
		examples: []example{
			{"CREATE USER 'app'@'%' IDENTIFIED BY 'hunter';", "CREATE USER 'app'@'%' IDENTIFIED BY 'REDACTED';"},
			{"ALTER USER app IDENTIFIED WITH caching_sha2_password BY 'hunter';", "ALTER USER app IDENTIFIED WITH caching_sha2_password BY 'REDACTED';"},
			{"the user is identified by a name, a row is identified by 'id'", ""},
		},
	},
	{
		name:   "snmp_community_name",
		marks:  []string{" name="},
		begins: func(before []byte) bool { return text.ContainsFold(lastLine(before), "/snmp community") },
		head:   argumentHead,
		examples: []example{
			{"/snmp community set [ find default=yes ] name=hunter2", "/snmp community set [ find default=yes ] name=REDACTED"},
			{"/interface set name=ether1", ""},
		},
	},
	{
		name:  "user_and_password",
		marks: []string{"id/pw", "id/pass", "id/pwd", "user/pw", "user/pass", "user/pwd"},
		head:  pairHead,
		examples: []example{
			{"ID/PW: admin/Secret123", "ID/PW: admin/REDACTED"},
			{"(user/pass = bob/hunter2x)", "(user/pass = bob/REDACTED)"},
			{"ID/PW: yes/no", ""},
			{"ID/PW are asked for at the door", ""},
			{"ID/PW: see /etc/login.defs", ""},
		},
	},
	{
		name:  "ingest_key",
		marks: []string{"stauth=key,"},
		head:  argumentHead,
		examples: []example{
			{"TerminAttr -ingestauth=key,hunter2x -taillogs", "TerminAttr -ingestauth=key,REDACTED -taillogs"},
			{"-ingestauth=key,", ""},
		},
	},
	{
		name:   "telegram_token",
		marks:  []string{":AA"},
		exact:  true,
		begins: func(before []byte) bool { return looks.Numbered(before[:len(before)-len(":AA")]) },
		head:   key{class: base64u, least: 32}.head,
		examples: []example{
			{"bot123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw7/getMe", "bot123456789:AAREDACTED/getMe"},
			{"00:11:22:AA:BB", ""},
		},
	},
	{
		name:   "discord_token",
		marks:  []string{".[GXYZ]"},
		exact:  true,
		begins: func(before []byte) bool { return looks.DiscordID(before[:len(before)-len(".G")]) },
		head:   discordHead,
		examples: []example{
			{"MTk4NjIyNDgzNDcxOTI1MjQ4.GZdWkS.ZnCjm1XVW7vRze4b7Cq4se7kKWsAbc12", "MTk4NjIyNDgzNDcxOTI1MjQ4.GREDACTED"},
			{"a.Go", ""},
		},
	},
	{
		name:  "service_token",
		marks: []string{"svc_"},
		exact: true,
		token: true,
		head:  openKeyHead,
		examples: []example{
			{"use svc_0123456789abcdefghijABCDEFGHIJ0123456789abcdefghi now", "use REDACTED now"},
			{"svc_redact comes after svc_scan", ""},
		},
	},
	{
		name:  "bearer",
		marks: []string{"bearer"},
		head:  bearerHead,
		examples: []example{
			{"Authorization: Bearer abc", "Authorization: Bearer REDACTED"},
			{"curl -H 'X: bearer 0a1b2c3d4e5f'", "curl -H 'X: bearer REDACTED'"},
			{"the bearer of this letter", ""},
		},
	},
	{
		name:  "authorization",
		marks: []string{"authorization"},
		head:  authorizationHead,
		examples: []example{
			{"Authorization: Token q2Lr9Tn4", "Authorization: Token REDACTED"},
			{"proxy-authorization: 0a1b2c3d4e5f", "proxy-authorization: REDACTED"},
			{"authorization: required", ""},
		},
	},
	{
		name:  "basic",
		marks: []string{"basic"},
		head:  basicHead,
		examples: []example{
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
		examples: []example{
			{"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl.", "REDACTED."},
			{"cursor=eyJpZCI6MTIzfQ==", ""},
		},
	},
	{
		name:  "url_password",
		marks: []string{"://"},
		head:  urlHead,
		examples: []example{
			{"postgres://bob:hunter2@db:5432/x", "postgres://bob:REDACTED@db:5432/x"},
			{"redis://:p@ss@cache", "redis://:REDACTED@cache"},
			{"http://localhost:2280/health", ""},
			{"curl http://localhost:$PORT/", ""},
		},
	},
	{
		name:   "private_key",
		marks:  []string{"EY--", "CK--"},
		exact:  true,
		begins: looks.Armoured,
		head:   armourHead,
		examples: []example{
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
		examples: []example{
			{"root:$6$abcdefgh$ijklmnop:19000:0", "root:REDACTED:19000:0"},
			{"echo $1$2", ""},
		},
	},
}

// wordRules makes the rules of the credential words.
func wordRules() (all []rule) {
	for _, w := range credentialWords {
		all = append(all, rule{name: w.name(), marks: strings.Split(w.mark, "|"), begins: w.begins, head: w.head, word: &w.word, examples: w.examples})
	}
	return all
}

// rules are the kinds of secrets that are redacted.
var rules = slices.Concat(wordRules(), standardRules, vendorKeys, deviceRules())

// marks are the marks of the rules, and marked the rule that each of them names by its number.
var (
	marks  *literal.Automaton
	marked []*rule
)

func init() {
	var all []literal.Mark
	for i := range rules {
		r := &rules[i]
		marked = append(marked, r)
		for _, pattern := range r.marks {
			for _, mark := range literal.Expand(pattern) {
				all = append(all, literal.Mark{Text: mark, Rule: i, Exact: r.exact, Token: r.token})
			}
		}
	}
	marks = literal.NewAutomaton(all)
}
