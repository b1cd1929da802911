package stream_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/svc-gateway/svc/caddymodule/auth/caddytest"
)

func init() {
	caddy.RegisterModule(new(waiter))
	httpcaddyfile.RegisterHandlerDirective("test_wait", func(h httpcaddyfile.Helper) (caddyhttp.MiddlewareHandler, error) {
		h.Next()
		return new(waiter), nil
	})
	httpcaddyfile.RegisterDirectiveOrder("test_wait", httpcaddyfile.Before, "respond")
}

// waiter is the plainest event stream there is: one event, and then nothing.
type waiter struct{}

func (*waiter) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.test_wait", New: func() caddy.Module { return new(waiter) }}
}

func (*waiter) ServeHTTP(w http.ResponseWriter, r *http.Request, _ caddyhttp.Handler) error {
	w.Header().Set("Content-Type", "text/event-stream")
	if _, err := io.WriteString(w, "data: {\"type\":\"message_chunk\",\"content\":\"hello\"}\n\n"); err != nil {
		return err
	}
	if err := http.NewResponseController(w).Flush(); err != nil {
		return err
	}
	<-r.Context().Done()
	return nil
}

// TestMemoryOfWaitingStreams holds that a stream that waits costs at most 1.5 times one of a
// handler without our stages.
func TestMemoryOfWaitingStreams(t *testing.T) {
	if testing.Short() {
		t.Skip("opens thousands of connections")
	}
	bare := memory(t, "test_wait")
	ours := memory(t, "svc_auth\nsvc_scan\nsvc_redact\nsvc_stream {\nkeepalive 1h\n}\ntest_wait")
	t.Logf("bytes a waiting stream: bare %d, with all stages %d, ratio %.2f", bare, ours, float64(ours)/float64(bare))
	if ours > bare*3/2 {
		t.Errorf("got %d bytes a stream, want at most 1.5 times %d", ours, bare)
	}
}

// memory returns what one open stream takes, the test's own connection included.
func memory(t *testing.T, site string) uint64 {
	const streams = 1000
	used := uint64(0)
	t.Run(strings.Fields(site)[0], func(t *testing.T) {
		srv := caddytest.Start(t, caddytest.Config{Site: site, Svc: "limits {\nrequests_per_minute 0\n}"})
		open := func(n int) {
			for range n {
				c, err := net.Dial("tcp", strings.TrimPrefix(srv.URL, "http://"))
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { c.Close() })
				fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n\r\n", srv.Token)
				if resp, err := http.ReadResponse(bufio.NewReaderSize(c, 16), nil); err != nil || resp.StatusCode != http.StatusOK {
					t.Fatalf("got %v, %v", resp, err)
				}
			}
		}
		open(20) // pools and caches
		before := inUse()
		open(streams)
		used = (inUse() - before) / streams
	})
	return used
}

func inUse() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse + m.StackInuse
}
