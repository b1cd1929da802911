package redact

import (
	"strings"
	"testing"
)

const pemBody64 = "MIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn/ygWyF8PbnGy0AHB7MaC8U7mJ0Y8Hc1Qe"

// A private key is found whatever stands before it, however the pieces are cut and whatever they are
// taken for.
func TestPrivateKeyAfterJSON(t *testing.T) {
	key := "-----BEGIN RSA PRIVATE KEY-----\n" + pemBody64 + "\n" + pemBody64 + "\n-----END RSA PRIVATE KEY-----\n"
	for _, lead := range []string{"", `{"a":1}` + "\n", "{\"a\":1}\n\n", "[0] ", `{"a":1} `, "[0]-", "12 ", `"x" `, "{}\n[INFO] ", "null\n", "{\"a\":\"b\"}\n{\"c\":\n", "text\n{\"a\":1}\n"} {
		for name, stream := range map[string]func() Stream{
			"text":  func() Stream { return NewTextStream() },
			"JSON":  func() Stream { return NewJSONStream() },
			"lines": func() Stream { return NewLineStream() },
		} {
			for _, n := range []byte{0, 1, 4, 22, 16, 13} {
				got := split(stream(), lead+key, []byte{n})
				if strings.Contains(got, "MIIE") || strings.Contains(got, "Hc1Qe") {
					t.Errorf("%s after %q, in pieces of %d:\n%s", name, lead, n+1, got)
				}
				if !strings.HasPrefix(got, lead+"-----BEGIN RSA PRIVATE KEY-----") || !strings.HasSuffix(got, "-----END RSA PRIVATE KEY-----\n") {
					t.Errorf("%s after %q, in pieces of %d: lost more than the key:\n%s", name, lead, n+1, got)
				}
			}
		}
	}
}

// A key is found in the strings of a program, too, one for each line.
func TestPrivateKeyInProgram(t *testing.T) {
	in := "k := \"-----BEGIN RSA PRIVATE KEY-----\\n\" +\n\t\"" + pemBody64 + "\\n\" +\n\t\"" + pemBody64[:30] + "==\\n\" +\n\t\"-----END RSA PRIVATE KEY-----\\n\"\nx := 1\n"
	want := "k := \"-----BEGIN RSA PRIVATE KEY-----\\n\" +\n\t\"REDACTED\" +\n\t\"-----END RSA PRIVATE KEY-----\\n\"\nx := 1\n"
	for n := range byte(17) {
		if got := split(NewTextStream(), in, []byte{n}); got != want {
			t.Errorf("in pieces of %d: got %q, want %q", n+1, got, want)
		}
	}
}

// A key is found in a difference, a quotation and a comment, where a sign stands before each line.
func TestPrivateKeyBehindSigns(t *testing.T) {
	for _, lead := range []string{"+", "-", "+ ", "-  ", "> ", ">> ", "| ", "# ", " * ", "// ", "!", "< "} {
		begin, end := lead+"-----BEGIN RSA PRIVATE KEY-----\n", lead+"-----END RSA PRIVATE KEY-----\n"+lead+"hostname r1\n"
		in := begin + lead + pemBody64 + "\n" + lead + pemBody64[:30] + "\n" + end
		for n := range byte(17) {
			got := split(NewTextStream(), in, []byte{n})
			if strings.Contains(got, "MIIE") || strings.Contains(got, "Hc1Qe") || !strings.HasPrefix(got, begin) || !strings.HasSuffix(got, end) {
				t.Errorf("%q, in pieces of %d: got %q", lead, n+1, got)
			}
		}
	}
}

// What stands after a document goes on after its last line.
func TestTextAfterJSON(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{`"password": "hunter2"`, `"password": "REDACTED"`},
		{"[1] password: x1", "[1] password: REDACTED"},
		{`{"a":"b"}, secret=x1 y`, `{"a":"b"}, secret=REDACTED y`},
		{`"PASSWORD"="x1 z"`, `"PASSWORD"="REDACTED"`},
	} {
		for n := range byte(17) {
			if got := split(NewJSONStream(), tt.in, []byte{n}); got != tt.want {
				t.Errorf("in pieces of %d: got %q, want %q", n+1, got, tt.want)
			}
		}
		if got := split(NewEventStream(), "data: "+tt.in+"\n\n", []byte{3}); got != "data: "+tt.want+"\n\n" {
			t.Errorf("as an event: got %q, want %q", got, tt.want)
		}
	}
}
