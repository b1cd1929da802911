package redact

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/svc-gateway/svc/scanner/redact/literal"
)

const apiKey = `Zq/9+"tiger & lion"\n`

func knowing(t testing.TB, values ...string) *Secrets {
	t.Helper()
	s := NewSecrets()
	for _, v := range values {
		if err := s.Register(v); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

var percent = regexp.MustCompile(`%[0-9A-F]{2}`)

func TestSecretsForms(t *testing.T) {
	s := knowing(t, apiKey)
	escaped, _ := json.Marshal(apiKey)
	for name, form := range map[string]string{
		"plain":              apiKey,
		"JSON":               strings.Trim(string(escaped), `"`),
		"JSON without HTML":  `Zq/9+\"tiger & lion\"\\n`,
		"JSON with slashes":  `Zq\/9+\"tiger & lion\"\\n`,
		"query":              url.QueryEscape(apiKey),
		"path":               url.PathEscape(apiKey),
		"query, lower case":  percent.ReplaceAllStringFunc(url.QueryEscape(apiKey), strings.ToLower),
		"query, %20":         strings.ReplaceAll(url.QueryEscape(apiKey), "+", "%20"),
		"base64":             base64.StdEncoding.EncodeToString([]byte(apiKey)),
		"base64, URL":        base64.RawURLEncoding.EncodeToString([]byte(apiKey)),
		"base64, offset 1":   base64.StdEncoding.EncodeToString([]byte("a" + apiKey + "b")),
		"base64, offset 2":   base64.StdEncoding.EncodeToString([]byte("ab" + apiKey + "bcd")),
		"base64 of user:key": base64.StdEncoding.EncodeToString([]byte("bob:" + apiKey)),
	} {
		t.Run(name, func(t *testing.T) {
			text := "before " + form + " after"
			got := s.Redact(text)
			if !strings.HasPrefix(got, "before ") || !strings.HasSuffix(got, " after") || !strings.Contains(got, Mark) || len(got) > len("before REDACTED after")+12 {
				t.Errorf("got %q", got)
			}
			for n := range byte(17) {
				if piecewise := split(s.TextStream(), text, []byte{n}); piecewise != got {
					t.Errorf("in pieces of %d: got %q, want %q", n+1, piecewise, got)
				}
			}
		})
	}
	if got := Text(apiKey); got != apiKey {
		t.Errorf("without the set: got %q", got)
	}
}

func TestSecretsInDocuments(t *testing.T) {
	s := knowing(t, "tiger-lion-42")
	for _, tt := range []struct {
		name, in, want string
		r              Stream
	}{
		{"JSON", `{"a":"my tiger-lion-42","n":1}`, `{"a":"my REDACTED","n":1}`, s.JSONStream()},
		{"JSON with escapes", `{"a":"t\u0069ger-lion\u002d42\n"}`, `{"a":"REDACTED\n"}`, s.JSONStream()},
		{"key of JSON", `{"tiger-lion-42":1}`, `{"REDACTED":1}`, s.JSONStream()},
		{"not JSON", `{"a":tiger-lion-42}`, `{"a":REDACTED}`, s.JSONStream()},
		{"almost", `{"a":"tiger-lion-41 tiger-"}`, `{"a":"tiger-lion-41 tiger-"}`, s.JSONStream()},
		{"twice", "tiger-lion-42tiger-lion-42", "REDACTEDREDACTED", s.TextStream()},
		{"begins anew", "tiger-tiger-lion-42", "tiger-REDACTED", s.TextStream()},
		{"after a word", "password: tiger-lion-42", "password: REDACTED", s.TextStream()},
		{"half at the end", "the tiger-li", "the tiger-li", s.TextStream()},
		{
			"events", "data: {\"content\":\"a tiger\"}\n\n: hb\n\ndata: {\"content\":\"-lion-4\"}\n\ndata: {\"content\":\"2 b\"}\n\n",
			": hb\n\ndata: {\"content\":\"a \"}\n\ndata: {\"content\":\"\"}\n\ndata: {\"content\":\"REDACTED b\"}\n\n", s.EventStream(),
		},
		{"event text", "data: a tiger-\n\ndata: lion-42 b\n\n", "data: a \n\ndata: REDACTED b\n\n", s.EventStream()},
		{"event field", "event: tiger-lion-42\ndata: {}\n\n", "event: REDACTED\ndata: {}\n\n", s.EventStream()},
		{"lines", "{\"response\":\"a tiger\"}\n{\"response\":\"-lion-42 b\"}\n", "{\"response\":\"a \"}\n{\"response\":\"REDACTED b\"}\n", s.LineStream()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for range 2 { // it is ready for a new stream
				for n := range byte(17) {
					if got := split(tt.r, tt.in, []byte{n}); got != tt.want {
						t.Errorf("in pieces of %d: got %q, want %q", n+1, got, tt.want)
					}
				}
			}
		})
	}
}

// An event of a known shape may not pass with a known secret.
func TestSecretsInShapes(t *testing.T) {
	r := knowing(t, "tiger-lion-42").EventStream()
	var got []byte
	for _, text := range []string{"one", " two", " three", " tiger-lion-42", " tiger", "-lion-42 four", ` tiger\u002dlion-42`} {
		got = r.Append(got, []byte("data: {\"id\":\"x\",\"content\":\""+text+"\"}\n\n"))
	}
	if got := string(r.Close(got)); strings.Contains(got, "lion") || strings.Count(got, "data:") != 7 {
		t.Errorf("got %s", got)
	}
}

func TestSecretsRemove(t *testing.T) {
	s := knowing(t, "tiger-lion-42", "tiger-lion-42", "other-secret")
	s.Remove("tiger-lion-42")
	if got := s.Redact("tiger-lion-42"); got != Mark {
		t.Errorf("removed once of twice: got %q", got)
	}
	s.Remove("tiger-lion-42")
	s.Remove("tiger-lion-42")
	if got, want := s.Redact("tiger-lion-42 other-secret"), "tiger-lion-42 REDACTED"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	with := s.With("for-one-request", "short")
	s.Remove("other-secret")
	if got, want := with.Redact("other-secret for-one-request short"), "REDACTED REDACTED short"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := s.Redact("for-one-request"), "for-one-request"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	var none *Secrets
	if got, want := none.With("for-one-request").Redact("for-one-request"), Mark; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSecretsBounds(t *testing.T) {
	s := NewSecrets()
	if err := s.Register("short"); !errors.Is(err, ErrTooShort) {
		t.Errorf("got %v, want %v", err, ErrTooShort)
	}
	long := strings.Repeat("x9", maxSecret/2)
	if err := s.Register(long + "x"); !errors.Is(err, ErrTooLong) {
		t.Errorf("got %v, want %v", err, ErrTooLong)
	}
	if err := s.Register(long); err != nil {
		t.Fatal(err)
	}
	r := s.TextStream()
	out := r.Append(nil, []byte("a "))
	for range len(long) / 64 {
		out = r.Append(out, []byte(long[:64]))
		if n := len(r.finder.buf); n > literal.MaxForm {
			t.Fatalf("%d bytes are held back", n)
		}
	}
	if got, want := string(r.Close(append(out, r.Append(nil, []byte(" b"))...))), "a REDACTED b"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSecretsConcurrent(t *testing.T) {
	s := knowing(t, "tiger-lion-42")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				_ = s.Register("another-secret")
				if got := s.Redact("tiger-lion-42"); got != Mark {
					t.Errorf("got %q", got)
				}
				s.Remove("another-secret")
			}
		})
	}
	wg.Wait()
}

func FuzzSecrets(f *testing.F) {
	f.Add("tiger-lion-42", `a tiger-lion-42 \u0074iger-lion-42 dGlnZXItbGlvbi00Mg==`, []byte{0})
	f.Add("aaaaaaaab", "aaaaaaaaaaaab aaaaaaaa", []byte{3})
	f.Add("\xbd0000000", "0", []byte("0")) // its first byte is the last one of an escape
	f.Add("password", "password: password", []byte{1, 2})
	f.Fuzz(func(t *testing.T, secret, text string, cuts []byte) {
		s := NewSecrets()
		if s.Register(secret) != nil || strings.Contains(Mark, secret) {
			return
		}
		whole := s.Redact(text)
		if got := split(s.TextStream(), text, cuts); got != whole {
			t.Fatalf("secret %q in %q, cut by %v:\n got %q\nwant %q", secret, text, cuts, got, whole)
		}
		if len(secret) <= literal.MaxForm && strings.Contains(strings.ReplaceAll(whole, Mark, "\x00"), secret) && !strings.Contains(secret, "\x00") {
			t.Fatalf("secret %q is left of %q: %q", secret, text, whole)
		}
		for _, doc := range []string{text, `{"a":` + string(quote(text)) + `,"b":` + string(quote(secret)) + `}`} {
			whole := string(s.RedactJSON([]byte(doc)))
			if got := split(s.JSONStream(), doc, cuts); got != whole {
				t.Fatalf("secret %q in %q, cut by %v:\n got %q\nwant %q", secret, doc, cuts, got, whole)
			}
			if json.Valid([]byte(doc)) && !json.Valid([]byte(whole)) {
				t.Fatalf("%q became %q", doc, whole)
			}
			if s.Clean([]byte(doc)) && whole != doc {
				t.Fatalf("secret %q in %q: got %q, though it is clean", secret, doc, whole)
			}
		}
		events := "data: {\"a\":" + string(quote(text)) + "}\n\ndata: {\"a\":" + string(quote(secret)) + "}\n\n"
		if got, whole := split(s.EventStream(), events, cuts), split(s.EventStream(), events, []byte{16}); got != whole {
			t.Fatalf("secret %q in %q, cut by %v:\n got %q\nwant %q", secret, events, cuts, got, whole)
		}
	})
}

func quote(s string) []byte {
	q, _ := json.Marshal(s)
	return q
}

// BenchmarkSecrets is ordinary text in pieces, with ten known secrets.
func BenchmarkSecrets(b *testing.B) {
	s := NewSecrets()
	for i := range 10 {
		if err := s.Register("tiger-lion-42-" + strings.Repeat(string(rune('a'+i)), 20)); err != nil {
			b.Fatal(err)
		}
	}
	src, dst := []byte(ordinary), make([]byte, 0, 4096)
	r := s.TextStream()
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		for i := 0; i < len(src); i += 200 {
			dst = r.Append(dst[:0], src[i:min(i+200, len(src))])
		}
	}
}
