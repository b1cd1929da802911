package redact

import (
	"strings"
	"testing"

	"github.com/svc-gateway/svc/scanner/redact/literal"
)

// Each rule shows in its entry what it takes out and what it leaves, in texts with its mark.
func TestRules(t *testing.T) {
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			r.check(t, Text)
			for _, e := range r.examples {
				if !r.marked(e.in) {
					t.Errorf("%q has no mark of the rule, %q", e.in, r.marks)
				}
			}
		})
	}
	for _, r := range []rule{guardedValue, scatteredValue, shortValue, sparedValue} {
		t.Run(r.name, func(t *testing.T) { r.check(t, func(doc string) string { return string(JSON([]byte(doc))) }) })
	}
}

// check holds a rule to its examples, of which it must have some of each kind.
func (r *rule) check(t *testing.T, redact func(string) string) {
	t.Helper()
	redacts, leaves := false, false
	for _, e := range r.examples {
		want := e.out
		if want == "" {
			want = e.in
		}
		redacts, leaves = redacts || want != e.in, leaves || want == e.in
		if got := redact(e.in); got != want {
			t.Errorf("%q\n got %q\nwant %q", e.in, got, want)
		}
	}
	if !redacts || !leaves {
		t.Errorf("the rule has an example of what it redacts: %v, of what it leaves: %v; it needs both", redacts, leaves)
	}
}

// marked reports whether a text has one of the rule's marks.
func (r *rule) marked(text string) bool {
	if !r.exact {
		text = strings.ToLower(text)
	}
	for _, m := range r.marks {
		for _, mark := range literal.Expand(m) {
			if !r.exact {
				mark = strings.ToLower(mark)
			}
			if strings.Contains(text, mark) {
				return true
			}
		}
	}
	return false
}

// A second pass finds what the first one found and left nothing of. Where secrets run into each
// other, it may see more in what is left.
func TestTwiceIsOnce(t *testing.T) {
	for _, text := range seeds() {
		once := Text(text)
		if twice := Text(once); twice != once {
			t.Errorf("Text(%q) = %q, and again: %q", text, once, twice)
		}
		once = string(JSON([]byte(text)))
		if twice := string(JSON([]byte(once))); twice != once {
			t.Errorf("JSON(%q) = %q, and again: %q", text, once, twice)
		}
	}
}

// seeds are texts with and without secrets, the examples of the rules among them.
func seeds() []string {
	texts := []string{
		"", "pass", "password", "password: ", "Password:\n", "password=", `"password":"`, "no secrets at all",
		"password password secret secret x", "secret: password: x", "password=a,secret=b;community=c&key-string=d",
		`"password": {"a": ["b", "c]"], "d": 1}, "x": 1`, `{\"password\": \"a\\\"b\"}`, "password = \"\"\"x\"\"\"",
		"password: |\n  hunter2\n", "set(\"password\", \"x\")", "password is set to `x1`", "password -> x",
		"https://u:p:q@r@s/t", "://:", "://a$1$abcdefgh:b@c", "://eyJaaaaaaaaa.bbbb:x@y",
		"eyJaaaaaaaa..b.c", "Bearer \t a.b.c.d1e.", "svc_svc_aaaaaaaaaaaaaaaaaa", "$1$$2a$$6$aaaaaaaa",
		"-----BEGIN RSA PRIVATE KEY-----\\nProc-Type: 4,ENCRYPTED\\n\\nabc\\n-----END RSA PRIVATE KEY-----\\n",
		"secret: \"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhki\n\"",
		"password=a\\\\\"},b\x00c", "password: <your password> or ${PASSWORD}", "password=,x=1", "password=\xff\xfe",
		"password for the admin account: x", "password for bob secret x1: y",
	}
	// Texts that once came out differently when they were cut, or redacted twice.
	texts = append(
		texts,
		"https://-----BEGIN PRIVATE KEY-----password=(#REDACTED", "://key-stringkey-strings=..x: [", "https://svc_aaaaaaaaaaaaaaaaaaaa://",
		"://svc_aaaaaaaaaaaaaaaaaaaa65000:100", "address is https://password:=]hunter2", "https://PassWord65000:100\\nx", "$2a$secret=\\nREDACTED;",
		"password$6$secret=\xff…0", "for PassWord hunter2secret\uff1a!svc_https://x", "<password>password:'key 65000:100", "level community set manager*x: {the",
		"pre-shared-key address community->\xff$?{client </", "community\t$6$10.0.0.1 ://aaaa:=", "$2a$eyJ_policy10.0.0.1 \x00$7", "pre shared key\uff1a<secret >user",
		"community-community\tpassword\uff1a->", "-----BEGIN PRIVATE KEY----- eyJaaaaaaaaa..s", "community\tis -->svc_aaaaaaaaaaaaaaaaaaaa…b\"!\\\": *is", "password is \\x: y",
		"pAsswd $!", "password $65000:100", "password …$6$-----BEGIN PRIVATE KEY-----]]", "authentication-key \uff1a-----BEGIN PRIVATE KEY-----", "passwd \"\"$2a$-----BEGIN PRIVATE KEY-----",
		"passwd \"\"\"", "Authorization: (sha512 ](", "Authorization: _sha512 12](", "eyJREDACTED..$2a$-----BEGIN PRIVATE KEY-----]", "://svc_0000000000000000%:A",
		"eyJ00000000.$0$00000000", "Authorization: svc_aaaaaaaaaaaaaaaaaaaa_", "CommunitY: AA! ", "<pAsswd 0<0 >0", "snmp-server host REDACTEDsvc_aaaaaaaaaaaaaaaaaaaaREDACTED]REDACTED--svc_aaaaaaaaaaaaaaaaaaaa65000:100-----BEGIN PRIVATE KEY-----]]",
		"AuthoriZAtion:0!ABIA000000000A1278B9", "]Authorization: _$2a$-----BEGIN PRIVATE KEY-----", "AuthoriZAtion:_!A0 0A", "Authorization: password1265000:100"+strings.Repeat("]", 80),
		"token=svc_0000000000000000%a0", "://:@$1$abcdefgh:b@", "sk-sk-REDACTEDsvc_$2a$-----BEGIN PRIVATE KEY-----",
		"Community: Sl\xff\xff\xff\xffand ", "Community: Slóvenia x", "passwd \"… x", `://"password":"\\""password")`,
	)
	for _, f := range spellings {
		texts = append(texts, f.in)
	}
	for _, r := range rules {
		for _, tt := range r.examples {
			texts = append(texts, tt.in, strings.TrimSuffix(tt.in, tt.in[len(tt.in)*2/3:]))
		}
	}
	return texts
}

// split runs a transformer over the text, cut into pieces as the bytes of cuts say.
func split(tr Stream, text string, cuts []byte) string {
	var out []byte
	for i := 0; len(text) > 0; i++ {
		n := 1
		if len(cuts) > 0 {
			n = int(cuts[i%len(cuts)])%17 + 1
		}
		n = min(n, len(text))
		out = tr.Append(out, []byte(text[:n]))
		text = text[n:]
	}
	return string(tr.Close(out))
}

func FuzzText(f *testing.F) {
	for _, s := range seeds() {
		f.Add(s, []byte{0})
		f.Add(s, []byte{4, 1, 16})
	}
	f.Fuzz(func(t *testing.T, text string, cuts []byte) {
		whole := Text(text)
		if got := split(NewTextStream(), text, cuts); got != whole {
			t.Fatalf("Text(%q), cut by %v:\n got %q\nwant %q", text, cuts, got, whole)
		}
	})
}

// fragments are what the rules look at; FuzzTextFragments puts them together.
var fragments = strings.Split("password|PassWord|community|secret|key-string|pre-shared-key|pre shared key|svc_|svc_aaaaaaaaaaaaaaaaaaaa|Bearer |Basic |"+
	"Authorization: |eyJ|eyJaaaaaaaaa|.|..|://|https://|user|@|:|=|: |= |:=|=>|->|,|;|&|a=|b:| | |\t|\n|\n\n|\r\n|\"|'|`|\\|\\\"|\\\\\"|\\n|{|}|[|]|(|)|<|>|</|"+
	"password>|-----BEGIN PRIVATE KEY-----|-----BEGIN |PRIVATE KEY-----|-----END PRIVATE KEY-----|MIIEvQIBADANBgkqhki|$|$6$|$2a$|7|0|7 |5 |12|encrypted |sha512 |level |"+
	"is |is|to |for |on |the |admin |address |10.0.0.1 |key |must |manager|null|true|x|hunter2|RemoveMe|REDACTED|1234|65000:100|snmp-server |username |set |enable |"+
	"client |-|--|_|Key|_policy|s|*|**|!|?|/|\x00|\xff|é|\xef\xbc\x9a|…|YWRtaW46aHVudGVyMg==|b\"|${X}|<your password>|~|#|%|+|passwd|api_key|token|pwd|ghp_|sk-|AKIA|AKIAQ3EGRIL2VN7UTXJ5|a1B2c3D4e5F6g7H8i9J0|key 7 |key |ENC |set |snmp-server host |traps |version |auth |priv |user |md5 |"+
	"authentication-key |name=\"|value=\"|\"\"|\"\"\"|''|!!str |!x |:-|${|$(|{{|}}|%s|;|this.|get(|_|default=|***|…|str = |a.b|level |cipher |<param |x-|don't |’|aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa|"+
	"pass|pw|db_|auth|creds|api|session|::=|.=|your-|-here|${{|md5 0 |:AA|.GZ|MTk4NjIyNDgzNDcxOTI1MjQ4|phash|string = \"|+\n\"|q2Lr9Tn4Vd0WkJm3", "|")

func assemble(choice []byte) string {
	var b strings.Builder
	for _, c := range choice {
		b.WriteString(fragments[int(c)%len(fragments)])
	}
	return b.String()
}

func FuzzTextFragments(f *testing.F) {
	f.Add([]byte{0, 21, 3}, []byte{0})
	f.Fuzz(func(t *testing.T, choice, cuts []byte) {
		text := assemble(choice)
		whole := Text(text)
		if got := split(NewTextStream(), text, cuts); got != whole {
			t.Fatalf("Text(%q), cut by %v:\n got %q\nwant %q", text, cuts, got, whole)
		}
	})
}

// A secret may be of any length; what is held back may not.
func TestHeldBackIsBounded(t *testing.T) {
	for _, head := range []string{
		"password=", "password=\"", "password=[", "secret ", "password", "password:", "password   ", "password for a ", "password is", "<password>", "Bearer ", "Basic ",
		"svc_", "eyJ", "eyJaaaaaaaaa.", "://", "://u:", "://u:p@", "$6$", "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhki",
	} {
		for _, fill := range []string{"a", "A1", "1", " ", "\n", ")", "\\", "\"", "'", ".", "@", "=", "-", "a ", ", ", ",a", "[", "{\"", "é", "\x00", "password ", "://"} {
			r := NewTextStream()
			r.Append(nil, []byte(head))
			piece := []byte(strings.Repeat(fill, 50))
			for range 200 {
				r.Append(nil, piece)
				if n := len(r.buf); n > 2048 {
					t.Fatalf("%q and many %q: %d bytes are held back", head, fill, n)
				}
			}
		}
	}
}

// What is no part of a match is written at once.
func TestNothingWaits(t *testing.T) {
	for _, text := range []string{"pass", "password", "Password:", "the password ", "secret =", "the password is ", "password for the admin ", "see https://example.com", "http://localhost:", "Bearer ", "\"secret\": \""} {
		if got := string(NewTextStream().Append(nil, []byte(text))); got != text {
			t.Errorf("%q: only %q was written", text, got)
		}
	}
}

func TestValuesThatOnlyBeginLikeAPlaceholder(t *testing.T) {
	for in, want := range map[string]string{
		"password=<abc>Def123":         "password=REDACTED",
		"password: ${X}hunter2hunter2": "password: REDACTED",
		"password=<abc>":               "password=<abc>",
		"password: ${DB_PASSWORD}, ok": "password: ${DB_PASSWORD}, ok",
	} {
		if got := Text(in); got != want {
			t.Errorf("Text(%q): got %q, want %q", in, got, want)
		}
	}
}

func TestJSONThatOnlySoundsSecret(t *testing.T) {
	for _, doc := range []string{
		`{"community":{"id":5,"name":"Gophers","members":[{"id":1,"name":"a"}]}}`,
		`{"flows":{"password":{"tokenUrl":"https://x/token","scopes":{"read":"Read"}}}}`,
	} {
		if got := string(JSON([]byte(doc))); got != doc {
			t.Errorf("got %s, want %s", got, doc)
		}
	}
	if got, want := string(JSON([]byte(`{"community":"s3cret"}`))), `{"community":"REDACTED"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A line of a configuration is known behind what programs put in front of each line.
func TestBehindNumbersAndSigns(t *testing.T) {
	for _, line := range []string{"set psksecret REDACTED", "  set passwd REDACTED", "enable secret REDACTED", " ppp chap password 0 REDACTED", "tacacs-server key REDACTED", " standby 1 authentication REDACTED"} {
		for _, lead := range []string{"", "+", "+ ", "-", "! ", "> ", "34: ", "34   ", "    34\t", "fw.conf:34:", "a/b:"} {
			if lead == "-" && line[0] == ' ' && line[1] != ' ' {
				continue // it may be an item of a list
			}
			want := lead + line
			if got := Text(strings.Replace(want, Mark, "swordfish", 1)); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
	}
	for _, line := range []string{"      3 password reset", "12 server key ideas", "docs/a.md:3:Set password policies here", "+ password validation", "12\tpassword validation happens here"} {
		if got := Text(line); got != line {
			t.Errorf("got %q, want %q", got, line)
		}
	}
}

// A value is a secret if its name, which stands in front of it, is that of one: in Kubernetes, compose, Terraform.
func TestNamedValues(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"env:\n- name: DB_PASSWORD\n  value: swordfish\n- name: A\n  value: b\n", "env:\n- name: DB_PASSWORD\n  value: REDACTED\n- name: A\n  value: b\n"},
		{"- name: DB_PASSWORD\r\n  value: swordfish\r\n", "- name: DB_PASSWORD\r\n  value: REDACTED\r\n"},
		{"+  - name: DB_PASSWORD\n+    value: \"swordfish\"\n", "+  - name: DB_PASSWORD\n+    value: \"REDACTED\"\n"},
		{"- name: DB_PASSWORD\n  value: |\n    two words\n- name: x\n", "- name: DB_PASSWORD\n  value: |\n    REDACTED\n- name: x\n"},
		{`{ name = "API_SECRET", value = "swordfish" }`, `{ name = "API_SECRET", value = "REDACTED" }`},
		{"{name: 'DB_PASSWORD', value: 'swordfish'}", "{name: 'DB_PASSWORD', value: 'REDACTED'}"},
		{"- Name: DB_PASSWORD\n  Value: swordfish\n", "- Name: DB_PASSWORD\n  Value: REDACTED\n"}, // CloudFormation
		{`{"Name":"DB_PASSWORD","Value":"swordfish"}`, `{"Name":"DB_PASSWORD","Value":"REDACTED"}`},
		{"File name: password\nValue: swordfish\n", ""},
		{"- name: DB_PASSWORD\n  value: $(X)\n", ""},
		{"- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: x\n", ""},
		{"- name: password\n  required: true\n", ""},
		{"- name: PASSWORD_MIN\n  value: 12\n", ""},
	} {
		if tt.want == "" {
			tt.want = tt.in
		}
		for n := range byte(len(tt.in)) {
			if got := split(NewTextStream(), tt.in, []byte{n}); got != tt.want {
				t.Errorf("%q in pieces of %d: got %q", tt.in, n+1, got)
			}
		}
	}
}
