package media

import (
	"net/http"
	"testing"
)

// header makes a header of fields "name: value".
func header(contentType, coding []string) http.Header {
	h := http.Header{}
	if contentType != nil {
		h["Content-Type"] = contentType
	}
	if coding != nil {
		h["Content-Encoding"] = coding
	}
	return h
}

func list(values ...string) []string { return values }

func TestOf(t *testing.T) {
	for _, tt := range []struct {
		name        string
		contentType []string
		coding      []string
		want        Body
		readable    bool
	}{
		{"nothing", nil, nil, Body{}, true},
		{"empty", list(""), list(""), Body{}, true},
		{"JSON", list("application/json"), nil, Body{Type: "application/json", Kind: JSON}, true},
		{"parameters", list(`Application/JSON ; Charset = "UTF-8" ; v=1`), nil, Body{Type: "application/json", Kind: JSON, Charset: ASCII}, true},
		{"says nothing", list("application/octet-stream"), nil, Body{Type: "application/octet-stream"}, true},
		{"malformed", list("nonsense"), nil, Body{}, true},
		{"half of one", list("image/"), nil, Body{}, true},
		{"a major type", list("image"), nil, Body{}, true},
		{"two slashes", list("image/png/x"), nil, Body{}, true},
		{"a character without a look", list("image/png\u00a0"), nil, Body{}, true},
		{"a letter that folds", list("text/event-\u017ftream"), nil, Body{}, true},

		{"the same twice", list("text/plain", "Text/Plain; charset=utf-8"), nil, Body{Type: "text/plain", Kind: Text, Charset: ASCII}, true},
		{"two", list("image/png", "text/plain"), nil, Body{Type: "image/png", Kind: Binary, Ambiguous: true}, false},
		{"a list", list("text/plain; charset=utf-8, image/png"), nil, Body{Type: "text/plain", Kind: Text, Charset: ASCII, Ambiguous: true}, false},
		{"a list of one", list(", text/plain ,"), nil, Body{Type: "text/plain", Kind: Text}, true},
		{"one and nonsense", list("image/png", "nonsense"), nil, Body{Type: "image/png", Kind: Binary, Ambiguous: true}, false},
		{"nonsense first", list("nonsense, image/png"), nil, Body{Ambiguous: true}, false},
		{"a quoted comma", list(`multipart/mixed; boundary="a, b/c"`), nil, Body{Type: "multipart/mixed", Kind: Multipart}, true},
		{"an escaped quote", list(`text/plain; x="a\", image/png"`), nil, Body{Type: "text/plain", Kind: Text}, true},
		{"a quote without an end", list(`text/plain; x=", image/png`), nil, Body{Type: "text/plain", Kind: Text, Ambiguous: true}, false},
		{"two multiparts", list("multipart/mixed; boundary=a", "multipart/mixed; boundary=b"), nil, Body{Type: "multipart/mixed", Kind: Multipart, Ambiguous: true}, false},
		{"events second", list("text/plain", "text/event-stream"), nil, Body{Type: "text/plain", Kind: Events, Ambiguous: true}, false},

		{"UTF-16", list("text/plain; charset=utf-16"), nil, Body{Type: "text/plain", Kind: Text, Charset: UTF16}, false},
		{"the worse of two", list("text/plain; charset=utf-8; charset=UTF-16LE"), nil, Body{Type: "text/plain", Kind: Text, Charset: UTF16}, false},
		{"in the second field", list("text/plain", "text/plain; charset=ebcdic-us"), nil, Body{Type: "text/plain", Kind: Text, Charset: Foreign}, false},
		{"in quotes", list(`text/plain; x="a; charset=utf-16"`), nil, Body{Type: "text/plain", Kind: Text, Charset: UTF16}, false},
		{"in pieces", list("text/plain; charset*0=utf; charset*1=-16"), nil, Body{Type: "text/plain", Kind: Text, Charset: Foreign}, false},
		{"another parameter", list("text/plain; accept-charset=utf-16; charsets=utf-16"), nil, Body{Type: "text/plain", Kind: Text}, true},
		{"no value", list("text/plain; charset"), nil, Body{Type: "text/plain", Kind: Text}, true},

		{"gzip", nil, list("GZip"), Body{Coding: "gzip"}, true},
		{"its old name", nil, list("x-gzip"), Body{Coding: "gzip"}, true},
		{"identity", nil, list("identity", " Identity , ,"), Body{}, true},
		{"identity and gzip", nil, list("identity, gzip"), Body{Coding: "gzip"}, true},
		{"two codings", nil, list("gzip ,br", "zstd"), Body{Coding: "gzip, br, zstd"}, true},
		{"an unknown one", nil, list("rot13"), Body{Coding: "rot13"}, true},
		{"identity with a weight", nil, list("identity;q=1"), Body{Coding: "identity;q=1"}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := Of(header(tt.contentType, tt.coding))
			if got != tt.want || got.Readable() != tt.readable {
				t.Errorf("got %+v, readable %v; want %+v, readable %v", got, got.Readable(), tt.want, tt.readable)
			}
		})
	}
}

func TestKinds(t *testing.T) {
	for kind, media := range map[Kind][]string{
		Unknown: {"application/octet-stream", "application/x-protobuf", "application/grpcx", "model/gltf-binary", "application/jsonx", "x/y"},
		Text: {
			"text/plain", "text/html", "text/csv", "text/whatever", "application/xml", "application/atom+xml", "image/svg+xml", "application/javascript",
			"application/openapi+yaml", "application/vnd.oasis.opendocument.text-flat-xml", "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
		},
		JSON: {"application/json", "text/json", "application/problem+json", "application/vnd.api+json", "image/x+json", "application/vnd.oasis.opendocument.x+json"},
		JSONLines: {
			"application/x-ndjson", "application/ndjson", "application/jsonl", "application/jsonlines", "application/x-jsonlines", "application/json-lines",
			"application/x-json-lines", "application/stream+json", "application/json-stream", "text/x-ndjson",
		},
		JSONSequence: {"application/json-seq", "application/geo+json-seq"},
		Events:       {"text/event-stream"},
		Form:         {"application/x-www-form-urlencoded"},
		Multipart:    {"multipart/form-data", "multipart/mixed", "multipart/byteranges"},
		GRPC:         {"application/grpc", "application/grpc+proto", "application/grpc+json", "application/grpc-web", "application/grpc-web+proto", "application/grpc-web-text+proto"},
		Binary: {
			"image/png", "audio/mpeg", "video/mp4", "font/woff2", "application/gzip", "application/x-gzip", "application/pdf", "application/zip", "application/epub+zip", "application/zstd",
			"application/wasm", "application/x-tar", "application/java-archive", "application/vnd.rar", "application/x-7z-compressed", "application/x-bzip2", "application/x-xz",
			"application/vnd.oasis.opendocument.text", "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
		},
	} {
		for _, m := range media {
			if got := Of(header(list(m), nil)); got.Kind != kind || got.Type != m {
				t.Errorf("%s: got %s, want %s", m, got.Kind, kind)
			}
		}
	}
}

func TestCharsets(t *testing.T) {
	for charset, names := range map[Charset][]string{
		Undeclared: {"", `""`, " ", "''"},
		ASCII: {
			"utf-8", "UTF8", `"utf-8"`, "'utf-8'", "utf_8", "us-ascii", "ISO-8859-1", "iso_8859-15:1998", "latin1", "windows-1252", "cp1252", "Shift_JIS", "EUC-KR", "euc_jp",
			"gb18030", "Big5-HKSCS", "koi8-r", "ibm866", "macintosh", "binary", "unicode-1-1-utf-8",
		},
		UTF16: {"utf-16", "UTF-16LE", "utf16be", "UCS-2", "iso-10646-ucs-2", "unicode", "csUnicode", "utf_16_le", `"ut\f-16"`},
		UTF32: {"utf-32", "UTF-32BE", "ucs-4", "ISO-10646-UCS-4"},
		Foreign: {
			"utf-7", "unicode-1-1-utf-7", "ebcdic-us", "ibm037", "ibm1047", "cp037", "cp500", "cp1026", "cp1140", "cp273", "iso-2022-jp", "iso-2022-kr", "hz-gb-2312",
			"unicode_escape", "punycode", "base64", "made-up", "utf-8 utf-16", "ut\u2011f-8", "---", "a-name-that-is-longer-than-any",
		},
	} {
		for _, name := range names {
			if got := Of(header(list("text/plain;charset="+name), nil)).Charset; got != charset {
				t.Errorf("%q: got %d, want %d", name, got, charset)
			}
		}
	}
}

// The usual headers cost no memory: each response is asked for several times.
func TestOfAllocatesNothing(t *testing.T) {
	for _, contentType := range []string{
		"application/json", "application/json; charset=utf-8", "application/json; charset=UTF-8", "text/event-stream", "text/event-stream; charset=utf-8", "text/html; charset=utf-8",
		"text/plain", "application/x-ndjson", "image/png", "application/octet-stream", "application/problem+json", "multipart/form-data; boundary=----WebKitFormBoundary7MA4YWxkTrZu0gW",
	} {
		h := header(list(contentType), nil)
		if n := testing.AllocsPerRun(100, func() { Of(h) }); n > 0 {
			t.Errorf("%s: got %v allocations, want none", contentType, n)
		}
	}
	h := header(list("application/json"), list("gzip"))
	if n := testing.AllocsPerRun(100, func() { Of(h) }); n > 0 {
		t.Errorf("with a coding: got %v allocations, want none", n)
	}
}

func BenchmarkOf(b *testing.B) {
	for _, contentType := range []string{"application/json", "text/event-stream; charset=utf-8", "text/html; charset=UTF-8", "application/problem+json"} {
		b.Run(contentType, func(b *testing.B) {
			h := header(list(contentType), nil)
			b.ReportAllocs()
			for b.Loop() {
				Of(h)
			}
		})
	}
}
