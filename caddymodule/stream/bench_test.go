package stream_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/caddymodule/auth/caddytest"
)

const events = 200

// mock answers a POST with 1 KB of JSON and a GET with 200 events of 80 bytes.
func mock(tb testing.TB) *httptest.Server {
	tb.Helper()
	doc := `{"thread_id":"6b6ff3a4","messages":[` + strings.Repeat(`{"role":"assistant","content":"The disks of this host are half full."},`, 13) + `{}]}`
	event := `data: {"type":"message_chunk","content":"` + strings.Repeat("word ", 6) + `12345"}` + "\n\n"
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", fmt.Sprint(len(doc)))
			io.WriteString(w, doc)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		rc := http.NewResponseController(w)
		for range events {
			io.WriteString(w, event)
			rc.Flush()
		}
	}))
	tb.Cleanup(up.Close)
	return up
}

// BenchmarkStages drives the same upstream through bare Caddy and through all four stages.
func BenchmarkStages(b *testing.B) {
	up := mock(b)
	for _, bb := range []struct{ name, site string }{
		{"bare", ""},
		{"auth", "svc_auth\n"},
		{"scan", "svc_scan\n"},
		{"redact", "svc_redact\n"},
		{"stream", "svc_stream\n"},
		{"all", "svc_auth\nsvc_scan\nsvc_redact\nsvc_stream\n"},
	} {
		body := `{"input":{"messages":[{"role":"user","content":"` + strings.Repeat("How full are the disks? ", 40) + `"}]}}`
		for _, method := range []string{http.MethodPost, http.MethodGet} {
			kind := map[string]string{http.MethodPost: "json", http.MethodGet: "sse"}[method]
			b.Run(kind+"/"+bb.name, func(b *testing.B) {
				srv := caddytest.Start(b, caddytest.Config{Site: bb.site + "reverse_proxy " + up.URL, Svc: "limits {\nrequests_per_minute 0\n}"})
				host := strings.TrimPrefix(srv.URL, "http://")
				request := fmt.Sprintf("%s / HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n", method, host, srv.Token)
				if method == http.MethodPost {
					request += fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
				} else {
					request += "\r\n"
				}
				b.ReportAllocs()
				b.SetParallelism(8) // 16 clients on two cores
				before := processorTime(b)
				b.RunParallel(func(pb *testing.PB) { drive(b, host, request, pb) })
				b.ReportMetric(float64(processorTime(b)-before)/float64(b.N), "cpu-ns/op")
			})
		}
	}
}

// processorTime is what this process has used so far, client and upstream included. On a busy
// machine it tells more than the clock.
func processorTime(b *testing.B) int64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

// drive sends the request over one connection again and again.
func drive(b *testing.B, host, request string, pb *testing.PB) {
	c, err := net.Dial("tcp", host)
	if err != nil {
		b.Error(err)
		return
	}
	defer c.Close()
	in := bufio.NewReaderSize(c, 32<<10)
	for pb.Next() {
		if _, err := io.WriteString(c, request); err != nil {
			b.Error(err)
			return
		}
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			b.Error(err)
			return
		}
		n, err := io.Copy(io.Discard, resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK || n < 900 {
			b.Errorf("got %s, %d bytes, %v", resp.Status, n, err)
			return
		}
	}
}

// TestMockSizes holds the sizes that the figures are told for.
func TestMockSizes(t *testing.T) {
	up := mock(t)
	for _, tt := range []struct {
		method   string
		min, max int
	}{{http.MethodPost, 950, 1100}, {http.MethodGet, events * 78, events * 82}} {
		r, _ := http.NewRequest(tt.method, up.URL, nil)
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if len(body) < tt.min || len(body) > tt.max || tt.method == http.MethodGet && bytes.Count(body, []byte("\n\n")) != events {
			t.Errorf("%s: %d bytes", tt.method, len(body))
		}
	}
}
