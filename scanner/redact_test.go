package scanner

import (
	"strings"
	"testing"
)

func TestRules(t *testing.T) {
	for _, r := range rules {
		for _, tt := range r.tests {
			want := tt.out
			if want == "" {
				want = tt.in
			}
			if got := Redact(tt.in); got != want {
				t.Errorf("%s: Redact(%q)\n got %q\nwant %q", r.name, tt.in, got, want)
			}
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
	for _, r := range rules {
		for _, tt := range r.tests {
			texts = append(texts, tt.in, strings.TrimSuffix(tt.in, tt.in[len(tt.in)*2/3:]))
		}
	}
	return texts
}

// split runs a transformer over the text, cut into pieces as the bytes of cuts say.
func split(tr Transformer, text string, cuts []byte) string {
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

func FuzzRedact(f *testing.F) {
	for _, s := range seeds() {
		f.Add(s, []byte{0})
		f.Add(s, []byte{4, 1, 16})
	}
	f.Fuzz(func(t *testing.T, text string, cuts []byte) {
		whole := Redact(text)
		if got := split(NewRedactor(), text, cuts); got != whole {
			t.Fatalf("Redact(%q), cut by %v:\n got %q\nwant %q", text, cuts, got, whole)
		}
		if again := Redact(whole); again != whole {
			t.Fatalf("Redact(%q) = %q\nis not stable: %q", text, whole, again)
		}
	})
}

// fragments are what the rules look at; FuzzRedactFragments puts them together.
var fragments = strings.Split("password|PassWord|community|secret|key-string|pre-shared-key|pre shared key|svc_|svc_aaaaaaaaaaaaaaaaaaaa|Bearer |Basic |"+
	"Authorization: |eyJ|eyJaaaaaaaaa|.|..|://|https://|user|@|:|=|: |= |:=|=>|->|,|;|&|a=|b:| | |\t|\n|\n\n|\r\n|\"|'|`|\\|\\\"|\\\\\"|\\n|{|}|[|]|(|)|<|>|</|"+
	"password>|-----BEGIN PRIVATE KEY-----|-----BEGIN |PRIVATE KEY-----|-----END PRIVATE KEY-----|MIIEvQIBADANBgkqhki|$|$6$|$2a$|7|0|7 |5 |12|encrypted |sha512 |level |"+
	"is |is|to |for |on |the |admin |address |10.0.0.1 |key |must |manager|null|true|x|hunter2|RemoveMe|REDACTED|1234|65000:100|snmp-server |username |set |enable |"+
	"client |-|--|_|Key|_policy|s|*|**|!|?|/|\x00|\xff|é|\xef\xbc\x9a|…|YWRtaW46aHVudGVyMg==|b\"|${X}|<your password>|~|#|%|+|aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "|")

func assemble(choice []byte) string {
	var b strings.Builder
	for _, c := range choice {
		b.WriteString(fragments[int(c)%len(fragments)])
	}
	return b.String()
}

func FuzzRedactFragments(f *testing.F) {
	f.Add([]byte{0, 21, 3}, []byte{0})
	f.Fuzz(func(t *testing.T, choice, cuts []byte) {
		text := assemble(choice)
		whole := Redact(text)
		if got := split(NewRedactor(), text, cuts); got != whole {
			t.Fatalf("Redact(%q), cut by %v:\n got %q\nwant %q", text, cuts, got, whole)
		}
		if again := Redact(whole); again != whole {
			t.Fatalf("Redact(%q)\n= %q\nis not stable:\n  %q", text, whole, again)
		}
	})
}
