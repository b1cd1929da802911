package media

import (
	"slices"
	"strings"
	"testing"
)

// FuzzOf holds that the case of letters, white space around separators and the order of parameters
// change nothing, and what an answer promises.
func FuzzOf(f *testing.F) {
	for _, seed := range [][2]string{
		{"text/plain; charset=utf-8", "gzip"},
		{"Text/Plain;x=1;charset=\"UTF-16\"", "identity, br"},
		{"text/plain, image/png; a=\"b,c\"", ""},
		{"multipart/form-data; boundary=\"a;charset=utf-16,b\"", "x-gzip ,, identity"},
		{"application/vnd.x+json;;;", "deflate"},
		{"text/plain; x=\"", "\""},
		{"image/png|text/event-stream", "gzip|gzip"},
		{"application/grpc-web-text+proto; charset*0=u; charset*1=tf-16", "a;q=1"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, contentType, coding string) {
		types, codings := strings.Split(contentType, "|"), strings.Split(coding, "|")
		want := Of(header(types, codings))
		for name, change := range map[string]struct{ contentType, coding func(string) string }{
			"upper case":          {upper, upper},
			"lower case":          {lower, lower},
			"space at both ends":  {padded, padded},
			"space at separators": {strings.NewReplacer(";", " ; ", ",", "\t, ", "=", " = ").Replace, strings.NewReplacer(",", "\t, ").Replace},
			"parameters in turn":  {turned, padded},
		} {
			if got := Of(header(mapped(types, change.contentType), mapped(codings, change.coding))); got != want {
				t.Errorf("%q %q, %s: got %+v, want %+v", types, codings, name, got, want)
			}
		}
		kind, valid := kindOf(want.Type)
		if valid != (want.Type != "") || want.Type != lower(want.Type) {
			t.Errorf("%q: the type is %q", types, want.Type)
		}
		if want.Readable() && (want.Ambiguous || want.Charset > ASCII) {
			t.Errorf("%q: %+v is readable", types, want)
		}
		if want.Kind != kind && want.Kind != Events {
			t.Errorf("%q: %q is %s", types, want.Type, want.Kind)
		}
	})
}

func upper(s string) string {
	p := []byte(s)
	for i, c := range p {
		if 'a' <= c && c <= 'z' {
			p[i] -= 'a' - 'A'
		}
	}
	return string(p)
}

func padded(s string) string { return " \t" + s + "\t " }

// turned returns a Content-Type with its parameters the other way round, where it is plain what they are.
func turned(s string) string {
	if strings.ContainsAny(s, "\",") {
		return s
	}
	parts := strings.Split(s, ";")
	slices.Reverse(parts[1:])
	return strings.Join(parts, ";")
}

func mapped(values []string, change func(string) string) (out []string) {
	for _, v := range values {
		out = append(out, change(v))
	}
	return out
}

// FuzzSniff holds that an answer that needs no more bytes is the answer however many follow, and that
// twelve are always enough.
func FuzzSniff(f *testing.F) {
	for _, m := range magics {
		f.Add([]byte(m.begin), uint8(Text))
	}
	for _, s := range []string{"", "data: x\n\n", "{\x00\x00\x00", "\x00\x00\x00p\x00\x00\x00a", "\xff\xfe\x00\x00", "\xef\xbb\xbf{"} {
		f.Add([]byte(s), uint8(Unknown))
	}
	f.Fuzz(func(t *testing.T, p []byte, kind uint8) {
		k := Kind(kind)
		want, ok := Sniff(p, k)
		if len(p) >= Enough && !ok {
			t.Errorf("%q: more bytes are asked for", p)
		}
		for n := range p {
			if got, ok := Sniff(p[:n], k); ok && got != want {
				t.Errorf("%q: after %d bytes it was %+v, with all %+v", p, n, got, want)
			}
		}
		if want.Format != NoFormat && want.Charset != Undeclared {
			t.Errorf("%q is %+v", p, want)
		}
	})
}
