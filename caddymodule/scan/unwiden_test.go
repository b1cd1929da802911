package scan

import (
	"testing"

	"github.com/svc-gateway/svc/internal/media"
)

func TestUnwiden(t *testing.T) {
	for in, want := range map[string]string{
		"\x00{\x00\"\x00a\x00\"\x00:\x001\x00}":        `{"a":1}`,
		"{\x00\"\x00\xac\x20":                          `{"€`,
		"\xff\xfea\x00\x3d\xd8\x42\xde":                "a🙂",
		"\xfe\xff\x00a\xd8\x00\x00b":                   "a\ufffdb", // half a pair, which some readers take
		"\x00\x00\x00{\x00\x01\xf6\x42":                "{🙂",
		"[\x00\x00\x00\xff\xff\x10\x00\x00":            "[\U0010ffff",
		"\x00{":                                        "{", // the first byte of a protocol with channels
		"\x00\x00\x00\x22\x00\x00\x00\x00\x04\x00\x00": "",  // a number of things, and things
		"\x00\x00\x00\x7bother":                        "",  // a length, and bytes
		"\x00[\x00\x1b":                                "",  // a control
	} {
		start, _ := media.Sniff([]byte(in), media.Unknown)
		if start.Charset.Readable() {
			t.Errorf("%q is %+v", in, start)
			continue
		}
		if got := string(unwiden([]byte(in), start)); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func FuzzUnwiden(f *testing.F) {
	f.Add([]byte("\xff\xfea\x00"))
	f.Fuzz(func(t *testing.T, p []byte) {
		start, _ := media.Sniff(p, media.Unknown)
		if start.Charset.Readable() {
			return
		}
		if out := unwiden(p, start); len(out) > 2*len(p) {
			t.Errorf("%q became %q", p, out)
		}
	})
}
