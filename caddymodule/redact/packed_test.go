package redact_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// What is compressed and does not say so passes if it is an archive. A text in it could not be redacted.
func TestPacked(t *testing.T) {
	gzipped := func(p []byte) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write(p)
		z.Close()
		return b.Bytes()
	}
	var archive bytes.Buffer
	tw := tar.NewWriter(&archive)
	tw.WriteHeader(&tar.Header{Name: "a", Size: 4, Mode: 0o600})
	tw.Write([]byte("text"))
	tw.Close()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	text := []byte("the password: hunter2tiger\n")
	long := []byte(strings.Repeat("words and words ", 400) + string(text))
	var media string
	var body []byte
	step := 1
	srv := serve(t, "", func(w http.ResponseWriter, _ *http.Request) {
		if w.Header().Set("Content-Type", media); media == "" {
			w.Header()["Content-Type"] = nil
		}
		for rest := body; len(rest) > 0; {
			n := min(step, len(rest))
			w.Write(rest[:n])
			http.NewResponseController(w).Flush()
			rest = rest[n:]
		}
	})
	for _, tt := range []struct {
		name string
		body []byte
		pass bool
	}{
		{"gzip of text", gzipped(text), false},
		{"gzip of long text", gzipped(long), false},
		{"gzip of JSON", gzipped([]byte(`{"password":"x"}`)), false},
		{"zstd of text", z.EncodeAll(text, nil), false},
		{"gzip of an archive", gzipped(archive.Bytes()), true},
		{"zstd of an archive", z.EncodeAll(archive.Bytes(), nil), true},
		{"gzip of nothing", gzipped(nil), true},
		{"gzip, cut off", gzipped(long)[:12], false},
		{"xz", []byte("\xfd7zXZ\x00\x00\x04"), false},
	} {
		for _, media = range []string{"", "application/octet-stream"} {
			for _, step = range []int{1, 100, 1 << 20} {
				body = tt.body
				resp, err := http.DefaultTransport.RoundTrip(srv.Request(http.MethodGet, "/", ""))
				var got []byte
				if err == nil {
					got, err = io.ReadAll(resp.Body)
					resp.Body.Close()
				}
				switch {
				case tt.pass && (err != nil || !bytes.Equal(got, tt.body)):
					t.Errorf("%s as %q in pieces of %d: got %d bytes, %v; want all %d", tt.name, media, step, len(got), err, len(tt.body))
				case !tt.pass && len(got) > 0:
					t.Errorf("%s as %q in pieces of %d: got %d bytes, want none", tt.name, media, step, len(got))
				}
			}
		}
	}
}
