package redact_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/svc-gateway/svc/caddymodule/auth/caddytest"
	_ "github.com/svc-gateway/svc/caddymodule/redact"
)

const secret = "hunter2tiger"

// serve puts svc_redact in front of a foreign server.
func serve(t *testing.T, options string, upstream http.HandlerFunc) *caddytest.Server {
	t.Helper()
	up := httptest.NewServer(upstream)
	t.Cleanup(up.Close)
	return caddytest.Start(t, caddytest.Config{Site: "svc_redact {\n" + options + "\n}\nreverse_proxy " + up.URL})
}

func TestBodies(t *testing.T) {
	var contentType, body string
	srv := serve(t, "", func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = nil
		if contentType != "" {
			w.Header()["Content-Type"] = strings.Split(contentType, "|")
		}
		w.Header().Set("ETag", `"1"`)
		w.Header().Set("Content-Digest", "sha-256=:x:")
		w.Header().Set("Accept-Ranges", "bytes")
		io.WriteString(w, body)
	})
	for _, tt := range []struct{ name, contentType, body, want string }{
		{"text", "text/plain; charset=utf-8", "password: hunter2tiger\n", "password: REDACTED\n"},
		{"json", "application/json", `{"password":"hunter2tiger","n":1.0}`, `{"password":"REDACTED","n":1.0}`},
		{"json with parameters", "application/json; charset=utf-8", `{"password":"hunter2tiger"}`, `{"password":"REDACTED"}`},
		{"problem", "application/problem+json", `{"detail":"password hunter2tiger"}`, `{"detail":"password REDACTED"}`},
		{"escaped json", "application/json", `{"p\u0061ssword":"hunter2tiger"}`, ""},
		{"json as text", "text/plain", `{"p\u0061ssword":"hunter2tiger"}`, ""},
		{"json without a type", "", ` {"p\u0061ssword":"hunter2tiger"}`, ""},
		{"no type", "", "password: hunter2tiger\n", "password: REDACTED\n"},
		{"octets", "application/octet-stream", "password: hunter2tiger\n", "password: REDACTED\n"},
		{"an unknown type", "application/x-made-up", "password: hunter2tiger\n", "password: REDACTED\n"},
		{"no type at all", "nonsense", "password: hunter2tiger\n", "password: REDACTED\n"},
		{"svg", "image/svg+xml", "<svg>password: hunter2tiger </svg>", "<svg>password: REDACTED </svg>"},
		{"broken json", "application/json", `{"password":"hunter2tiger`, ""},
		{"a log that begins like json", "text/plain", "[12:00] INFO password: hunter2tiger\n", "[12:00] INFO password: REDACTED\n"},
		{"json lines", "application/x-ndjson", "{\"a\":1}\n{\"password\":\"hunter2tiger\"}\n", "{\"a\":1}\n{\"password\":\"REDACTED\"}\n"},
		{"json lines by another name", "application/jsonl", "{\"p\\u0061ssword\":\"hunter2tiger\"}\n", "{\"p\\u0061ssword\":\"REDACTED\"}\n"},
		{
			"a json sequence", "application/json-seq", "\x1e{\n\"p\\u0061ssword\":\n\"hunter2tiger\"}\n\x1e{\"password\":\"hunter2tiger\"\x1e{\"secret\":\"hunter2tiger\"}\n",
			"\x1e{\n\"p\\u0061ssword\":\n\"REDACTED\"}\n\x1e{\"password\":\"REDACTED\"\x1e{\"secret\":\"REDACTED\"}\n",
		},
		{"a byte order mark", "application/json", "\xef\xbb\xbf{\"p\\u0061ssword\":\"hunter2tiger\"}", "\xef\xbb\xbf{\"p\\u0061ssword\":\"REDACTED\"}"},
		{"a byte order mark without a type", "", "\xef\xbb\xbf{\"p\\u0061ssword\":\"hunter2tiger\"}", "\xef\xbb\xbf{\"p\\u0061ssword\":\"REDACTED\"}"},
		{"events behind a byte order mark", "text/event-stream", "\xef\xbb\xbfdata: {\"p\\u0061ssword\":\"hunter2tiger\"}\n\n", "\xef\xbb\xbfdata: {\"p\\u0061ssword\":\"REDACTED\"}\n\n"},
		{"the same type twice", "text/plain|Text/Plain; charset=us-ascii", "password: hunter2tiger\n", "password: REDACTED\n"},
		{"half a type", "image", "password: hunter2tiger\n", "password: REDACTED\n"},
		{"a document of an office program in XML", "application/vnd.oasis.opendocument.text-flat-xml", "<p>password: hunter2tiger </p>", "<p>password: REDACTED </p>"},
		{"nothing to redact", "text/html", "<p>hello</p>", "<p>hello</p>"},
		{"empty", "text/html", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			contentType, body = tt.contentType, tt.body
			resp, got := srv.Do(http.MethodGet, "/", "")
			if tt.want != "" && got != tt.want || strings.Contains(got, secret) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			for name, want := range map[string]string{"ETag": `W/"1"`, "Content-Digest": "", "Accept-Ranges": ""} {
				if v := resp.Header.Get(name); v != want {
					t.Errorf("%s is %q, want %q", name, v, want)
				}
			}
			if resp.ContentLength >= 0 && resp.ContentLength != int64(len(got)) {
				t.Errorf("Content-Length is %d for %d bytes", resp.ContentLength, len(got))
			}
		})
	}
	for _, pass := range []string{"image/png", "application/zip", "video/mp4", "application/vnd.oasis.opendocument.text"} {
		contentType, body = pass, "password: hunter2tiger"
		resp, got := srv.Do(http.MethodGet, "/", "")
		if got != body || resp.Header.Get("ETag") == "" || resp.ContentLength != int64(len(body)) {
			t.Errorf("%s: got %q %v", pass, got, resp.Header)
		}
	}
}

func TestPassOption(t *testing.T) {
	srv := serve(t, "pass model/* application/x-protobuf", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", strings.TrimPrefix(r.URL.Path, "/"))
		io.WriteString(w, "password: hunter2tiger")
	})
	for media, want := range map[string]bool{"model/mesh": true, "application/x-protobuf": true, "application/x-proto": false, "models/mesh": false} {
		if _, got := srv.Do(http.MethodGet, "/"+media, ""); strings.Contains(got, secret) != want {
			t.Errorf("%s: got %q", media, got)
		}
	}
}

// TestFailsClosed holds that what cannot be redacted does not come through.
func TestFailsClosed(t *testing.T) {
	var zipped bytes.Buffer
	zw := gzip.NewWriter(&zipped)
	zw.Write([]byte("password: hunter2tiger"))
	zw.Close()
	for _, tt := range []struct {
		name, code string
		upstream   http.HandlerFunc
	}{
		{"compressed", "upstream_encoded", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			w.Header().Set("Set-Cookie", "a=1")
			w.Header().Set("Content-Length", fmt.Sprint(zipped.Len()))
			w.Write(zipped.Bytes())
		}},
		{"a part", "upstream_partial", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Range", "bytes 10-21/22")
			w.WriteHeader(http.StatusPartialContent)
			io.WriteString(w, secret)
		}},
		{"a wide character set", "upstream_charset", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", `text/plain; charset="UTF-16LE"`)
			io.WriteString(w, secret)
		}},
		{"EBCDIC", "upstream_charset", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; charset=ibm1047")
			io.WriteString(w, secret)
		}},
		{"a character set that nobody knows", "upstream_charset", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json; charset=made-up")
			io.WriteString(w, secret)
		}},
		{"a list of types", "upstream_charset", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "image/png, text/plain")
			io.WriteString(w, secret)
		}},
		{"two types", "upstream_charset", func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = []string{"image/png", "text/plain"}
			io.WriteString(w, secret)
		}},
		{"endless", "upstream_encoded", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Encoding", "br")
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, secret); err != nil {
					return
				}
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := serve(t, "", tt.upstream)
			resp, got := srv.Do(http.MethodGet, "/", "")
			if resp.StatusCode != http.StatusBadGateway || !strings.Contains(got, `"code":"`+tt.code+`"`) || strings.Contains(got, secret) {
				t.Errorf("got %s %q, want a problem %s", resp.Status, got, tt.code)
			}
			if resp.Header.Get("Set-Cookie") != "" || resp.Header.Get("Content-Encoding") != "" {
				t.Errorf("the refused response left %v", resp.Header)
			}
		})
	}
}

// TestUnannounced holds that what cannot be read breaks the response, however small the writes
// are that it comes in.
func TestUnannounced(t *testing.T) {
	// The upstream goes on when the client has left: each body has a server of its own.
	letters := func(media, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", media)
			for i := range len(body) {
				io.WriteString(w, body[i:i+1])
				http.NewResponseController(w).Flush()
			}
		}
	}
	for _, tt := range []struct{ name, media, body string }{
		{"UTF-16LE", "text/plain", "p\x00a\x00s\x00s\x00w\x00o\x00r\x00d\x00 \x00h\x00u\x00n\x00"},
		{"UTF-16BE", "application/json", "\x00{\x00\"\x00p"},
		{"UTF-16 with a mark", "text/plain", "\xff\xfep\x00"},
		{"UTF-32LE", "text/plain", "p\x00\x00\x00"},
		{"gzip", "application/json", "\x1f\x8b\x08\x00\x00\x00"},
		{"zstd", "text/event-stream", "\x28\xb5\x2f\xfd\x00"},
		{"zip", "application/xml", "PK\x03\x04\x14\x00"},
		{"UTF-16 behind a letter of another script", "application/json", "\"\x00\x2d\x4e"},
		{"UTF-16 without a type that says text", "application/octet-stream", "{\x00\"\x00p\x00"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := serve(t, "", letters(tt.media, tt.body))
			resp, err := http.DefaultTransport.RoundTrip(srv.Request(http.MethodGet, "/", ""))
			if err == nil {
				defer resp.Body.Close()
				if got, err := io.ReadAll(resp.Body); err == nil || len(got) > 0 {
					t.Errorf("got %q, %v; want a broken response without a body", got, err)
				}
			}
		})
	}
	for _, text := range []string{"(", "(x)", "B", "BZ", "x", "", "{", " ", "\x00"} {
		if _, got := serve(t, "", letters("text/plain", text)).Do(http.MethodGet, "/", ""); got != text {
			t.Errorf("got %q, want %q", got, text)
		}
	}
}

func TestTowardsTheUpstream(t *testing.T) {
	var header http.Header
	srv := serve(t, "", func(_ http.ResponseWriter, r *http.Request) { header = r.Header })
	srv.Do(http.MethodPost, "/", "", "Accept-Encoding", "gzip, br", "Range", "bytes=5-", "If-Range", `"1"`,
		"Connection", "Upgrade", "Upgrade", "made-up/1", "Sec-WebSocket-Extensions", "permessage-deflate")
	if got := header.Get("Accept-Encoding"); got != "identity" {
		t.Errorf("Accept-Encoding is %q", got)
	}
	for _, name := range []string{"Range", "If-Range", "Upgrade", "Sec-WebSocket-Extensions"} {
		if got := header.Get(name); got != "" {
			t.Errorf("%s is %q", name, got)
		}
	}
}

func TestHeaders(t *testing.T) {
	srv := serve(t, "", func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Location", "https://bob:hunter2tiger@example.com/x?password=hunter2tiger")
		h.Set("X-Snmp-Community", secret)
		h.Add("X-Note", "fine")
		h.Add("X-Note", "the password: hunter2tiger")
		h.Set("Set-Cookie", "secret=meant-for-you")
		h.Set("Content-Type", "text/plain")
		w.WriteHeader(http.StatusFound)
	})
	resp, _ := srv.Do(http.MethodGet, "/", "")
	for name, values := range resp.Header {
		if strings.Contains(strings.Join(values, " "), secret) {
			t.Errorf("%s: %q", name, values)
		}
	}
	if got := resp.Header.Get("Location"); !strings.HasPrefix(got, "https://bob:REDACTED@example.com/x") {
		t.Errorf("Location: %q", got)
	}
	if got := resp.Header.Values("X-Note"); len(got) != 2 || got[0] != "fine" {
		t.Errorf("X-Note: %q", got)
	}
	if got := resp.Header.Get("Set-Cookie"); got != "secret=meant-for-you" {
		t.Errorf("Set-Cookie: %q", got)
	}
}

func TestTrailers(t *testing.T) {
	srv := serve(t, "", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Trailer", "X-Result, Digest")
		w.Header().Set("Content-Type", "text/plain")
		io.WriteString(w, "hello")
		w.Header().Set("X-Result", "password: hunter2tiger")
		w.Header().Set("Digest", "sha-256=x")
		w.Header().Set(http.TrailerPrefix+"X-Late", "secret: hunter2tiger")
	})
	resp, _ := srv.Do(http.MethodGet, "/", "")
	if got := fmt.Sprint(resp.Trailer); strings.Contains(got, secret) || strings.Contains(got, "sha-256") {
		t.Errorf("got %s", got)
	}
	if got := resp.Trailer.Get("X-Result"); got != "password: REDACTED" {
		t.Errorf("X-Result: %q", got)
	}
}

func TestMethodsAndStatuses(t *testing.T) {
	srv := serve(t, "", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/204":
			w.WriteHeader(http.StatusNoContent)
		case "/304":
			w.WriteHeader(http.StatusNotModified)
		case "/hints":
			w.Header().Set("Link", "</x>; title=\"password hunter2tiger\"")
			w.WriteHeader(http.StatusEarlyHints)
			fallthrough
		default:
			w.Header().Set("Content-Length", "27")
			io.WriteString(w, `{"password":"hunter2tiger"}`)
		}
	})
	for _, tt := range []struct {
		method, path string
		code         int
		body         string
	}{
		{http.MethodHead, "/", 200, ""},
		{http.MethodGet, "/204", 204, ""},
		{http.MethodGet, "/304", 304, ""},
		{http.MethodGet, "/hints", 200, `{"password":"REDACTED"}`},
		{http.MethodPost, "/", 200, `{"password":"REDACTED"}`},
	} {
		resp, body := srv.Do(tt.method, tt.path, "")
		if resp.StatusCode != tt.code || body != tt.body || resp.ContentLength == 27 {
			t.Errorf("%s %s: got %s %q, length %d", tt.method, tt.path, resp.Status, body, resp.ContentLength)
		}
	}
}

func TestConnectIsRefused(t *testing.T) {
	srv := serve(t, "", func(http.ResponseWriter, *http.Request) { t.Error("the upstream was asked") })
	c, err := net.Dial("tcp", strings.TrimPrefix(srv.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	host := strings.TrimPrefix(srv.URL, "http://")
	fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", host, host)
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil || resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("got %v, %v", resp, err)
	}
}

// TestSplitWrites sends a secret in two TCP segments.
func TestSplitWrites(t *testing.T) {
	gate := make(chan struct{})
	srv := serve(t, "", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		rc := http.NewResponseController(w)
		io.WriteString(w, "line one\nthe password: hunter")
		rc.Flush()
		<-gate
		io.WriteString(w, "2tiger\nend\n")
	})
	resp, err := http.DefaultTransport.RoundTrip(srv.Request(http.MethodGet, "/", ""))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	first := make([]byte, len("line one\n"))
	if _, err := io.ReadFull(resp.Body, first); err != nil { // it does not wait for the rest
		t.Fatal(err)
	}
	close(gate)
	rest, err := io.ReadAll(resp.Body)
	if got, want := string(first)+string(rest), "line one\nthe password: REDACTED\nend\n"; got != want || err != nil {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

// TestSplitEvents sends a secret in the content of two events, flushed one by one.
func TestSplitEvents(t *testing.T) {
	gate := make(chan struct{})
	srv := serve(t, "", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		rc := http.NewResponseController(w)
		for _, content := range []string{"one ", "password: hun", "ter2tig", "er and more", " text"} {
			fmt.Fprintf(w, "data: {\"type\":\"message_chunk\",\"content\":%q}\n\n", content)
			rc.Flush()
			if content == "one " {
				<-gate
			}
		}
		io.WriteString(w, "data: {\"type\":\"done\"}\n\n")
	})
	resp, err := http.DefaultTransport.RoundTrip(srv.Request(http.MethodGet, "/", ""))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	if !lines.Scan() { // the first event comes while the handler waits
		t.Fatal(lines.Err())
	}
	close(gate)
	text := lines.Text()
	for lines.Scan() {
		text += "\n" + lines.Text()
	}
	joined := strings.NewReplacer(`data: {"type":"message_chunk","content":"`, "", "\"}", "", "\n", "").Replace(text)
	if strings.Contains(joined, "hunter2") || strings.Contains(joined, "hun") || strings.Contains(joined, "tig") {
		t.Errorf("got %s", text)
	}
	if n := strings.Count(text, "data: "); n != 6 {
		t.Errorf("got %d events, want 6: %s", n, text)
	}
}

// TestUpstreamDies holds that the client learns it, and sees no tail of a secret.
func TestUpstreamDies(t *testing.T) {
	srv := serve(t, "", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		io.WriteString(w, "hello\npassword: hunter2ti")
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	resp, err := http.DefaultTransport.RoundTrip(srv.Request(http.MethodGet, "/", ""))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err == nil || strings.Contains(string(got), "hunter") || !strings.HasPrefix(string(got), "hello\n") {
		t.Errorf("got %q, %v; want the beginning and an error", got, err)
	}
}

// TestUpstreamDiesLate holds that what may be the half of a key is not let go with the rest of an
// event that is larger than what net/http keeps back.
func TestUpstreamDiesLate(t *testing.T) {
	srv := serve(t, "", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"content\":\"%s: the key AKIAQ3EGR\"}\n\n", strings.Repeat("and so on ", 2000))
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	resp, err := http.DefaultTransport.RoundTrip(srv.Request(http.MethodGet, "/", ""))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got, err := io.ReadAll(resp.Body); err == nil || len(got) > 0 {
		t.Errorf("got %d bytes ending in %q, %v; want none and an error", len(got), got[max(0, len(got)-20):], err)
	}
}

func TestClientLeaves(t *testing.T) {
	left := make(chan struct{})
	srv := serve(t, "", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		io.WriteString(w, "hello\n\n")
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(left)
	})
	resp, err := http.DefaultTransport.RoundTrip(srv.Request(http.MethodGet, "/", ""))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	select {
	case <-left:
	case <-time.After(10 * time.Second):
		t.Error("the upstream was not told")
	}
}
