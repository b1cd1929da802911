package jsonscan

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestUnescape(t *testing.T) {
	for _, tt := range []struct {
		raw, want string
		n         int
		more      bool
	}{
		{`\n`, "\n", 2, false},
		{`\u00e9x`, "é", 6, false},
		{`\ud83d\ude00`, "😀", 12, false},
		{`\u00`, "", 0, true},
		{`\ud83d\u`, "", 0, true},
		{`\q`, `\`, 1, false},
	} {
		got, n, more := Unescape([]byte(tt.raw), nil)
		if string(got) != tt.want || n != tt.n || more != tt.more {
			t.Errorf("%s: got %q, %d, %v", tt.raw, got, n, more)
		}
	}
}

// Each byte comes back as it was written.
func TestEncoded(t *testing.T) {
	var e, to Encoded
	e.Each([]byte("ab"))
	e.Push([]byte(`\u00e9`), len("é"))
	e.Push([]byte(`\n`), 1)
	e.Move(&to, 1)
	if got := string(e.Pop(3)) + "|" + string(e.Pop(1)) + "|" + string(to.Pop(1)); got != `b\u00e9|\n|a` {
		t.Errorf("got %s", got)
	}
	e.Write([]byte("\n"), 1)
	if got := string(e.Pop(1)); got != `\\n` {
		t.Errorf("got %s", got)
	}
}

func TestNumberLength(t *testing.T) {
	for text, want := range map[string]int{"12,": 2, "-0.5e+3}": 7, "01": -1, "1.": -1, "-": -1, "": -1} {
		if got := NumberLength([]byte(text)); got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
}

func TestIDReader(t *testing.T) {
	r := IDReader{
		Naming: func(p []byte) bool { return string(p) == "name" },
		Secret: func(p []byte) bool { return bytes.Equal(p, []byte("password")) },
	}
	got := r.Read([]byte(`{"a":[{"text":"x","index":2},{"id":"m"}],"b":{"value":1,"name":"password"}}`))
	if len(got) != 3 || string(got[0].Tag) != "A2" || string(got[1].Bare) != `"m"` || !got[2].Named || got[2].Object != 3 {
		t.Errorf("got %+v", got)
	}
}

func TestStrings(t *testing.T) {
	for _, tt := range []struct {
		doc, want string
		ok        bool
	}{
		{`{"a":"b","c":[1,-2.5e3,"d",{}],"e":{"f":null}}`, `a: b c: d e: f:`, true},
		{" [ true , false , \"a\" ]\r\n\t", `a`, true},
		{`["a\"b\\","\\\""]`, `a\"b\\ \\\"`, true},
		{`"a"`, `a`, true},
		{`[]`, ``, true},
		{``, ``, false},
		{`{"a"}`, `a:`, false},
		{`{"a":}`, `a:`, false},
		{`{"a":1,}`, `a:`, false},
		{`{1:"a"}`, ``, false},
		{`["a",]`, `a`, false},
		{`["a" "b"]`, `a`, false},
		{`["a"}`, `a`, false},
		{`["a`, ``, false},
		{`["a\"`, ``, false},
		{`["a\`, ``, false},
		{`"a" "b"`, `a`, false},
		{`[01]`, ``, false},
		{`[-]`, ``, false},
		{`[tru]`, ``, false},
		{`["a","stop","b"]`, `a stop`, false},
		{strings.Repeat("[", 65) + strings.Repeat("]", 65), ``, false},
	} {
		var got []string
		ok := Strings([]byte(tt.doc), func(inside []byte, key bool) bool {
			s := string(inside)
			if key {
				s += ":"
			}
			got = append(got, s)
			return s != "stop"
		})
		if ok != tt.ok || strings.Join(got, " ") != tt.want {
			t.Errorf("%s: got %v %q, want %v %q", tt.doc, ok, strings.Join(got, " "), tt.ok, tt.want)
		}
	}
}

// FuzzStrings holds that only JSON is taken for it.
func FuzzStrings(f *testing.F) {
	f.Add(`{"a":["b\u0041",1,true]}`)
	f.Fuzz(func(t *testing.T, doc string) {
		all := func([]byte, bool) bool { return true }
		if Strings([]byte(doc), all) && !json.Valid([]byte(doc)) && !strings.ContainsFunc(doc, func(r rune) bool { return r < ' ' || r == '\\' }) {
			t.Errorf("%q is no JSON", doc)
		}
	})
}

func TestValid(t *testing.T) {
	for _, doc := range []string{
		``, ` `, `{}`, ` [ ] `, `{"a":1}`, `{"a":1,}`, `[1,]`, `{"a"}`, `{a:1}`, `nul`, `null`, `nullx`, `truefalse`, `"`, `"\`, `"a`, `"a"b`, `"\u12"`, `"\u123g"`,
		`"\ud83d"`, `"\ud83d\ude00"`, `"\x"`, `"\/\b\f\n\r\t\"\\"`, "\"\x00\"", "\"12345678\x1f\"", "\"1234567\x1f\"", "\"\x7f\xff\xfe\"", `-`, `-0`, `01`, `1.`, `1.5e+3`, `1e`,
		"{}\x00", "\x00", `[[[[1]]]]`, strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), strings.Repeat("[", 10_001) + strings.Repeat("]", 10_001), `{"a":{"b":[{"c":"d"}]}}`, `{} {}`,
	} {
		if got, want := Valid([]byte(doc)), json.Valid([]byte(doc)); got != want {
			t.Errorf("%.40q: got %v, want %v", doc, got, want)
		}
	}
}

func FuzzValid(f *testing.F) {
	f.Add([]byte(`{"a":["b\u00e9\n",1.5e3,true,null,{"":"` + "\x80" + `"}]}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		if got, want := Valid(doc), json.Valid(doc); got != want {
			t.Fatalf("%q: got %v, want %v", doc, got, want)
		}
		want := bytes.IndexFunc(doc, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' })
		if want < 0 {
			want = len(doc)
		}
		if got := PlainLength(doc); got != want {
			t.Fatalf("%q: got %d plain bytes, want %d", doc, got, want)
		}
	})
}

func BenchmarkValid(b *testing.B) {
	doc := []byte(`{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("The backup of the mail server ran for forty minutes. ", 18) + `"}],"n":1}`)
	for name, valid := range map[string]func([]byte) bool{"ours": Valid, "encoding/json": json.Valid} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			for b.Loop() {
				valid(doc)
			}
		})
	}
}
