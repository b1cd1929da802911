package media

import "testing"

func TestSniff(t *testing.T) {
	none := Start{}
	wide := func(c Charset) Start { return Start{Charset: c} }
	packed := func(f Format) Start { return Start{Format: f} }
	for _, tt := range []struct {
		name, body string
		kind       Kind
		want       Start
		ok         bool
	}{
		{"nothing", "", Text, none, false},
		{"a letter", "x", Text, none, false},
		{"text", "hello", Text, none, true},
		{"a document", `{"a":1}`, JSON, none, true},
		{"text of two bytes", "hi", Unknown, none, true},
		{"letters beyond ASCII", "\xc3\xa4h", Text, none, true},

		{"the mark of UTF-8", "\xef\xbb\xbf{", JSON, Start{Charset: ASCII, Mark: 3}, true},
		{"a part of it", "\xef\xbb", JSON, none, false},
		{"the mark of UTF-16LE, or half of one of UTF-32LE", "\xff\xfe", Text, Start{Charset: UTF16, Mark: 2}, false},
		{"UTF-16LE with a mark", "\xff\xfep\x00", Unknown, Start{Charset: UTF16, Mark: 2}, true},
		{"UTF-16BE with a mark", "\xfe\xff\x00p", Text, Start{Charset: UTF16, Mark: 2}, true},
		{"UTF-32LE with a mark", "\xff\xfe\x00\x00p", Text, Start{Charset: UTF32, Mark: 4}, true},
		{"UTF-32BE with a mark", "\x00\x00\xfe\xff", Unknown, Start{Charset: UTF32, Mark: 4}, true},
		{"a part of that", "\x00\x00\xfe", Text, none, false},

		{"UTF-16LE", "p\x00a\x00", Text, wide(UTF16), true},
		{"UTF-16LE, one character", "p\x00", Text, wide(UTF16), false},
		{"UTF-16LE, then a character of another script", "\"\x00\x2d\x4e", JSON, wide(UTF16), true},
		{"UTF-16BE", "\x00{\x00\"", JSON, wide(UTF16), true},
		{"UTF-32LE", "p\x00\x00\x00", Text, wide(UTF32), true},
		{"UTF-32BE", "\x00\x00\x00p", Text, wide(UTF32), true},
		{"zeros", "\x00\x00", Text, none, false},
		{"more zeros", "\x00\x00\x00\x00", Text, none, true},

		{"no type, two characters", "p\x00a\x00", Unknown, wide(UTF16), true},
		{"no type, one character", "p\x00", Unknown, none, false},
		{"no type, one character and something else", "\n\x00\x12\x05", Unknown, none, true},
		{"no type, a document", "{\x00\x2d\x4e", Unknown, wide(UTF16), true},
		{"no type, a document in UTF-32", "\x00\x00\x00[", Unknown, wide(UTF32), true},
		{"no type, two characters of UTF-32", "\x00\x00\x00p\x00\x00\x00a", Unknown, wide(UTF32), true},
		{"no type, a string", "\"\x00\x2d\x4e", Unknown, wide(UTF16), true},
		{"no type, a string, big end first", "\x00\"\x4e\x2d", Unknown, wide(UTF16), true},
		{"a film", "\x00\x00\x00 ftypisom", Unknown, none, true},
		{"the beginning of one", "\x00\x00\x00 ", Unknown, none, false},
		{"a frame of gRPC", "\x00\x00\x00\x01{", GRPC, none, true},
		{"an image that begins like text", "{\x00{\x00", Binary, none, true},

		{"gzip", "\x1f\x8b\x08", Text, packed(Gzip), true},
		{"a part of it", "\x1f", Text, none, false},
		{"zstd", "\x28\xb5\x2f\xfd\x04", Unknown, packed(Zstd), true},
		{"a bracket", "(x)", Text, none, true},
		{"xz", "\xfd7zXZ\x00", Events, packed(Xz), true},
		{"bzip2", "BZh91AY&SY", Text, packed(Bzip2), true},
		{"bzip2 of another level", "BZh11AY&SYx", Text, packed(Bzip2), true},
		{"a part of it", "BZh9", Text, none, false},
		{"like it", "BZh9 is", Text, none, true},
		{"zip", "PK\x03\x04\x14", Text, packed(Zip), true},
		{"PNG", "\x89PNG\r\n\x1a\n\x00", Binary, packed(PNG), true},
		{"JPEG", "\xff\xd8\xff\xe0", Unknown, packed(JPEG), true},
		{"GIF", "GIF89a\x01", Text, packed(GIF), true},
		{"WebP", "RIFF\x24\x00\x00\x00WEBPVP8 ", Unknown, packed(WebP), true},
		{"another RIFF", "RIFF\x24\x00\x00\x00WAVE", Unknown, none, true},
		{"PDF", "%PDF-1.7", Binary, packed(PDF), true},
		{"WebAssembly", "\x00asm\x01\x00\x00\x00", Unknown, packed(Wasm), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := Sniff([]byte(tt.body), tt.kind)
			if got != tt.want || ok != tt.ok {
				t.Errorf("got %+v %v, want %+v %v", got, ok, tt.want, tt.ok)
			}
		})
	}
}

func TestFormats(t *testing.T) {
	for f, want := range map[Format]struct {
		name   string
		packed bool
	}{NoFormat: {"none", false}, Gzip: {"gzip", true}, Zip: {"zip", true}, PNG: {"PNG", false}, Wasm: {"WebAssembly", false}} {
		if f.String() != want.name || f.Packed() != want.packed {
			t.Errorf("%d: got %s, packed %v; want %+v", f, f, f.Packed(), want)
		}
	}
}

func BenchmarkSniff(b *testing.B) {
	for name, body := range map[string]string{"document": `{"a":1}`, "events": "data: x\n\n", "comment": ": hb\n", "page": "<!DOCTYPE html>"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Sniff([]byte(body), Text)
			}
		})
	}
}
