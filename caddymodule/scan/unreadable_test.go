package scan_test

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
)

// wide writes a text as UTF-16LE.
func wide(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		b.Write([]byte{c, 0})
	}
	return b.String()
}

const injected = `{"a":"` + attack + `"}`

// What a request body cannot be read for is refused, whatever is done about findings.
func TestUnreadableRequests(t *testing.T) {
	long := strings.Repeat("all is well. ", 20)
	tests := []struct {
		name, contentType, body string
		status                  int
		code                    string
	}{
		{"UTF-16 with a mark", "application/json", "\xff\xfe" + wide(injected), 415, "unsupported_charset"},
		{"UTF-16 without one", "application/json", wide(injected), 415, "unsupported_charset"},
		{"UTF-16 without a type", "", wide(injected), 415, "unsupported_charset"},
		{"UTF-16 behind a letter of another script", "application/json", "\"\x00\x2d\x4e" + wide(attack), 415, "unsupported_charset"},
		{"UTF-16, long", "text/plain", wide(long + attack), 415, "unsupported_charset"},
		{"UTF-16 in the second of two types", "text/plain|text/plain; charset=utf-16", "x", 415, "unsupported_charset"},
		{"EBCDIC", "text/plain; charset=ibm037", "x", 415, "unsupported_charset"},
		{"unicode", "text/plain; charset=unicode", "x", 415, "unsupported_charset"},
		{"nobody knows it", "text/plain; charset=made-up", "x", 415, "unsupported_charset"},
		{"two types", "application/json|text/plain", "{}", 415, "unsupported_charset"},
		{"a list", "application/json, text/plain", "{}", 415, "unsupported_charset"},
		{"compressed in silence", "application/json", zipped(injected), 415, "encoded_body"},
		{"compressed in silence, long", "text/plain", "\x1f\x8b" + long, 415, "encoded_body"},

		{"the same type twice", "application/json|application/json;charset=utf-8", `{}`, 200, ""},
		{"ISO 8859-1", "text/plain; charset=ISO-8859-1", "fine", 200, ""},
		{"an archive", "application/octet-stream", zipped("hello"), 200, ""},
		{"an archive that says so", "application/gzip", zipped("hello"), 200, ""},
		{"a film", "application/octet-stream", "\x00\x00\x00\x20ftypisom", 200, ""},
		{"a byte", "text/plain", "x", 200, ""},
		{"a zero", "text/plain", "\x00", 200, ""},
	}
	for _, options := range []string{"", "action block\nmax_scan 100"} {
		srv, answer, _, _ := stage(t, options)
		answer.pieces = []string{"fine"}
		for _, tt := range tests {
			for _, chunked := range []bool{false, true} {
				r := srv.Request(http.MethodPost, "/", tt.body)
				if tt.contentType != "" {
					r.Header["Content-Type"] = strings.Split(tt.contentType, "|")
				}
				if chunked {
					r.ContentLength = -1
				}
				if resp, body := srv.Send(r); resp.StatusCode != tt.status || !strings.Contains(body, tt.code) {
					t.Errorf("%s, with %q, chunked %v: got %s %s, want %d %s", tt.name, options, chunked, resp.Status, body, tt.status, tt.code)
				}
			}
		}
	}
}

// The options say what becomes of a compressed body, whether it says that it is or not.
func TestCompressedInSilence(t *testing.T) {
	srv, answer, _, log := stage(t, "encoded pass\naction block")
	answer.pieces = []string{"fine"}
	body := zipped(injected)
	if resp, got := srv.Do(http.MethodPost, "/", body, "Content-Type", "application/json"); resp.StatusCode != http.StatusOK {
		t.Errorf("request: got %s %s", resp.Status, got)
	}
	*answer = reply{header: jsonType(), pieces: []string{body}}
	if resp, got := srv.Do(http.MethodGet, "/", ""); resp.StatusCode != http.StatusOK || got != body {
		t.Errorf("response: got %s %q", resp.Status, got)
	}
	srv.Eventually("the log tells of both", func() bool {
		text, _ := os.ReadFile(log)
		return bytes.Contains(text, []byte("request body passes unscanned")) && bytes.Contains(text, []byte("response body passes unscanned"))
	})

	srv, answer, _, _ = stage(t, "encoded decode\naction block")
	for name, inside := range map[string]string{"UTF-16": wide(injected), "compressed twice": zipped(injected)} {
		if resp, got := srv.Do(http.MethodPost, "/", zipped(inside), "Content-Type", "application/json", "Content-Encoding", "gzip"); resp.StatusCode != http.StatusUnsupportedMediaType {
			t.Errorf("%s: got %s %s, want 415", name, resp.Status, got)
		}
		*answer = reply{header: map[string]string{"Content-Type": "application/json", "Content-Encoding": "gzip"}, pieces: []string{zipped(inside)}}
		if resp, got := srv.Do(http.MethodGet, "/", ""); resp.StatusCode != http.StatusBadGateway {
			t.Errorf("response, %s: got %s %s, want 502", name, resp.Status, got)
		}
		*answer = reply{pieces: []string{"fine"}}
	}
}

// A response that cannot be read is refused; where its header is out by then, it is broken off before
// the first byte.
func TestUnreadableResponses(t *testing.T) {
	tests := []struct {
		name, contentType, body string
		code                    string // of the problem; "" passes
		early                   bool   // the header tells
	}{
		{"UTF-16", "application/json", wide(injected), "upstream_charset", false},
		{"UTF-16 events", "text/event-stream", wide("data: " + attack + "\n\n"), "upstream_charset", false},
		{"UTF-16, short", "text/plain", "x\x00", "upstream_charset", false},
		{"compressed in silence", "text/html", zipped(attack), "upstream_encoded", false},
		{"EBCDIC", "text/plain; charset=ebcdic-us", "x", "upstream_charset", true},
		{"a list", "text/plain, image/png", "x", "upstream_charset", true},
		{"an image", "image/png", "\x00{\x00\"", "", true},
		{"an office document", "application/vnd.oasis.opendocument.text", zipped("x"), "", true},
		{"a byte", "text/plain", "x", "", false},
		{"lines", "application/jsonl", "{}\n", "", false},
		{"a sequence", "application/json-seq", "\x1e{}\n\x1e{\n}\n", "", false},
	}
	for _, options := range []string{"", "action block"} {
		srv, answer, _, _ := stage(t, options)
		for _, tt := range tests {
			for _, pieces := range [][]string{{tt.body}, strings.Split(tt.body, "")} {
				*answer = reply{header: map[string]string{"Content-Type": tt.contentType}, pieces: pieces}
				resp, err := http.DefaultTransport.RoundTrip(srv.Request(http.MethodGet, "/", ""))
				if err != nil {
					if tt.code == "" || tt.early {
						t.Errorf("%s, with %q: %v", tt.name, options, err)
					}
					continue
				}
				body, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				held := options != "" && tt.contentType != "text/event-stream"
				switch {
				case tt.code == "":
					if err != nil || string(body) != tt.body {
						t.Errorf("%s, with %q: got %v %q", tt.name, options, err, body)
					}
				case tt.early || held:
					if resp.StatusCode != http.StatusBadGateway || !strings.Contains(string(body), tt.code) {
						t.Errorf("%s, with %q: got %s %q, want 502 %s", tt.name, options, resp.Status, body, tt.code)
					}
				case err == nil || len(body) > 0:
					t.Errorf("%s, with %q: got %v %q, want it broken off", tt.name, options, err, body)
				}
			}
		}
	}
}

func TestSequences(t *testing.T) {
	srv, answer, _, _ := stage(t, "action block\nskip a")
	for _, tt := range []struct{ name, body, want string }{
		{"clean", "\x1e{\"a\":1}\n\x1e{\n\"b\":2}\n", ""},
		{"skipped", "\x1e{\"a\":\"" + attack + "\"}\n", ""},
		{"found", "\x1e{\"b\":1}\n\x1e{\"b\":\"" + attack + "\"}\n", "\x1e{\"b\":1}\n\x1e{\"code\":\"injection_found\""},
	} {
		*answer = reply{header: map[string]string{"Content-Type": "application/json-seq"}, pieces: []string{tt.body}}
		if tt.want == "" {
			tt.want = tt.body
		}
		if _, got := srv.Do(http.MethodGet, "/", ""); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
