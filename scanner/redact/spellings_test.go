package redact

import "testing"

// forms are ways to write a secret, or something that only looks like one. An empty want says
// that the text stays.
var spellings = []struct{ name, in, want string }{
	{"YAML block", "a:\n  password: |\n    hunter2\n    tiger3\n  user: bob\n", "a:\n  password: |\n    REDACTED\n  user: bob\n"},
	{"YAML block, folded", "secret: >-\n  one two\n\n  three\nnext: x\n", "secret: >-\n  REDACTED\nnext: x\n"},
	{"YAML block, empty", "password: |\nuser: bob\n", ""},
	{"YAML tag", "password: !!str hunter2\n", "password: !!str REDACTED\n"},
	{"YAML anchor", "password: &pw hunter2\n", "password: &pw REDACTED\n"},
	{"YAML list", "- password: hunter2\n", "- password: REDACTED\n"},
	{"XML element", "<bind-password>hunter2</bind-password>", "<bind-password>REDACTED</bind-password>"},
	{"XML element with attributes", `<password type="plain">hunter2</password>`, `<password type="plain">REDACTED</password>`},
	{"XML CDATA", "<password><![CDATA[hunter2]]></password>", "<password><![CDATA[REDACTED]]></password>"},
	{"XML attribute", `<user name="bob" password="hunter2"/>`, `<user name="bob" password="REDACTED"/>`},
	{"XML attribute next to the word", `<property name="db.password" value="hunter2"/>`, `<property name="db.password" value="REDACTED"/>`},
	{"XML key next to the word", `<add key="Password" value="hunter2" />`, `<add key="Password" value="REDACTED" />`},
	{"XML named element", `<Data Name="Password">hunter2</Data>`, `<Data Name="Password">REDACTED</Data>`},
	{"HTML field", `<input type="password" name="password" value="hunter2">`, `<input type="password" name="password" value="REDACTED">`},
	{"HTML label", `<label for="password">Password</label>`, ""},
	{"resource of a label", `<string name="password">Password</string>`, ""},
	{"CSV", `bob,"password=""hunter2""",x`, `bob,"password=""REDACTED""",x`},
	{"doubled quote", "password='ab''cd'", "password='REDACTED'"},
	{"triple quotes", "password = \"\"\"\nab\n\"cd\"\n\"\"\"\nx", "password = \"\"\"REDACTED\"\"\"\nx"},
	{"shell default", "${DB_PASSWORD:-hunter2}", "${DB_PASSWORD:-REDACTED}"},
	{"default of a function", `os.getenv("DB_PASSWORD", "hunter2")`, `os.getenv("DB_PASSWORD", "REDACTED")`},
	{"default of a flag", `add("--password", default="hunter2")`, `add("--password", default="REDACTED")`},
	{"default of a parameter", `def f(password: str = "hunter2"):`, `def f(password: str = "REDACTED"):`},
	{"comparison", `if password == "hunter2" {`, `if password == "REDACTED" {`},
	{"comparison with a variable", "if password === confirmation {", ""},
	{"call", "password = getpass.getpass()", ""},
	{"call of a hash", "password = md5(input)", ""},
	{"member", "password: req.body.password,", ""},
	{"index", `password = os.environ["DB_PASSWORD"]`, ""},
	{"variable", "login(user, password=password)", ""},
	{"variable of two words", "password = user_password;", ""},
	{"variable and semicolon", "this.password = pw;", ""},
	{"type", "password: string;", ""},
	{"struct tag", "Password string `json:\"password\"`", ""},
	{"environment reference", "password: ${DB_PASSWORD}", ""},
	{"quoted reference", `password: "${DB_PASSWORD}"`, ""},
	{"template", "password: {{ vault.password }}", ""},
	{"format", "password=%s&user=%s", ""},
	{"SQL parameter", "WHERE password = :password", ""},
	{"command", "PASSWORD=$(cat /run/secret)", ""},
	{"masked", "password: ********", ""},
	{"masked in quotes", `"password": "****"`, ""},
	{"masked in brackets", "password: [hidden]", ""},
	{"device word", "username bob password access", "username bob password REDACTED"},
	{"device without a password", "username bob nopassword role admin", ""},
	{"key of a device", "api_key=abc;", "api_key=REDACTED;"},
	{"connection string", "Server=db;User Id=sa;Password=Tiger!3;Encrypt=yes", "Server=db;User Id=sa;Password=REDACTED;Encrypt=yes"},
	{"session cookie", "Cookie: theme=dark; session_token=q2Lr9Tn4Vd0W; a=b", "Cookie: theme=dark; session_token=REDACTED; a=b"},
	{"own cookie", "Cookie: svc_token=svc_0123456789abcdefghijABCDEFGHIJ0123456789abcdefghi", "Cookie: svc_token=REDACTED"},
	{"identifier", "primary_key = 5; foreign_key: user_id", ""},
	{"headers of requests", "curl -H 'x-api-key: abc123' -H 'Authorization: Token q2Lr9Tn4'", "curl -H 'x-api-key: REDACTED' -H 'Authorization: Token REDACTED'"},
	{"signed request", "Authorization: AWS4-HMAC-SHA256 Credential=AKIAQ3EGRIL2VN7UTXJ5/20260101/x, Signature=fe5f80", "Authorization: AWS4-HMAC-SHA256 Credential=REDACTED/20260101/x, Signature=fe5f80"},
	{"raw credential", "Authorization: q2Lr9Tn4Vd0W\n", "Authorization: REDACTED\n"},
	{"digest credential", `Authorization: Digest username="bob", response="6629fae4"`, ""},
	{"connector", "Your password has been changed to Hunter2.", "Your password has been changed to REDACTED."},
	{"relative clause", "The password you asked for is Hunter2.", "The password you asked for is REDACTED."},
	{"prose about secrets", "Keep the secret safe and never share your password with anyone.", ""},
	{"password in brackets", "log in (password: hunter2)", "log in (password: REDACTED)"},
	{"definition of a function", "def login(user, password): return check(user, password)", ""},
	{"arrow", "(user, password) => { go() }", ""},
	{"end of a string", `password = input("Enter password: ")`, ""},
	{"argument of a script", `password="$1"`, ""},
	{"prose about headers", "It is sent in the Authorization header as a Bearer token.", ""},
	{"column", "password VARCHAR(255) NOT NULL,", ""},
	{"markup", `<label>Password: <input type="password" name="pw"></label>`, ""},
	{"heading", "Community: Slack and Discord", ""},
	{"message", "passwd: password updated successfully", ""},
	{"two words for a secret", "password secret Hunter2x", "password REDACTED"},
	{"two words and a mark", "set password secret 5 $1$mERr$hx5rVt7rPNoS4", "set password REDACTED"},
	{"two words in a command", "enable secret password hunter", "enable secret REDACTED"},
	{"the second word is the secret", "username bob password secret privilege 15", "username bob password REDACTED privilege 15"},
	{"two words in prose", "the password secret is kept by a password key manager", ""},
	{"two words and brackets", "// Master secret key (SystemSecretKey.MarshalBinary), produced later.", ""},
	{"on the next line", "db:\n  password:\n    hunter\n  host: x\n", "db:\n  password:\n    REDACTED\n  host: x\n"},
	{"on the next line, CRLF", "password:\r\n  hunter\r\nhost: x1\r\n", "password:\r\n  REDACTED\r\nhost: x1\r\n"},
	{"on the next line of an item", "- user: bob\n  db_password:\n    hunter\n", "- user: bob\n  db_password:\n    REDACTED\n"},
	{"below, not indented", "Password:\nhunter2\n", "Password:\nREDACTED\n"},
	{"below an empty line", "Your new password is:\n\n    Xk29ab\n\nBye", "Your new password is:\n\n    REDACTED\n\nBye"},
	{"in a key of its own", "password:\n  value: hunter\n  type: x1\n", "password:\n  value: REDACTED\n  type: x1\n"},
	{"in a list", "passwords:\n  - hunter2\n  - abc\nnext: x1", "passwords:\n  - REDACTED\nnext: x1"},
	{"in a list beside its key", "passwords:\n- hunter2\n- abc\nnext: x1", "passwords:\n- REDACTED\nnext: x1"},
	{"text below a heading", "Password:\nPlease enter the password that you were given.", ""},
	{"code below a heading", "Generate a password:\n\n```sh\nmake x1\n```\n", ""},
	{"form", "Login:\nPassword:\nSubmit\n", ""},
	{"definition", "Password:\n    The password of the user.\n", ""},
	{"requirements", "Password:\n  - must be long\n  - has 8 letters\n", ""},
	{"other keys below", "password:\n  type: string1\n  min: x8\n", ""},
	{"next key", "  password:\n  user: x1\n", ""},
	{"code below", "class Password:\n    pass\nif password:\n    return\n", ""},
	{"reference below", "password:\n  ${DB_PASSWORD}\n", ""},
	{"nothing below", "password:\n\n\nhunter2\n", ""},
	{"nothing assigned", "password=\nuser=bob1\n", ""},
	{"default of a prompt", "password [default: hunter2]", "password [default: REDACTED]"},
}

func TestSpellings(t *testing.T) {
	for _, tt := range spellings {
		t.Run(tt.name, func(t *testing.T) {
			want := tt.want
			if want == "" {
				want = tt.in
			}
			if got := Text(tt.in); got != want {
				t.Errorf("Text(%q)\n got %q\nwant %q", tt.in, got, want)
			}
			if got := split(NewTextStream(), tt.in, []byte{0}); got != want {
				t.Errorf("byte by byte: got %q, want %q", got, want)
			}
		})
	}
}

// A password that people make of two words and a number is no variable of a program.
func TestWordsWithNumbers(t *testing.T) {
	for in, want := range map[string]string{
		"password=AdminPassword1\n":    "password=REDACTED\n",
		"wifi password: WifiPass2024":  "wifi password: REDACTED",
		"db_password=SuperSecret99\nx": "db_password=REDACTED\nx",
		"password = userPassword2\n":   "password = userPassword2\n",
		"apiKey = ApiKey2;":            "apiKey = ApiKey2;",
		"password: SecretString\n":     "password: SecretString\n",
	} {
		if got := Text(in); got != want {
			t.Errorf("Text(%q): got %q, want %q", in, got, want)
		}
	}
}
