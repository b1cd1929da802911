package health_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/svc-gateway/svc/internal/health"
)

func TestReason(t *testing.T) {
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }))
	defer plain.Close()
	get := func(url string) error {
		resp, err := http.Get(url)
		if err == nil {
			resp.Body.Close()
		}
		return err
	}
	_, handshake := tls.Dial("tcp", plain.Listener.Addr().String(), nil)
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"nobody listens":        {get("http://127.0.0.1:1"), health.Unreachable},
		"no such name":          {&net.DNSError{Err: "no such host"}, health.Unreachable},
		"an unknown authority":  {get(secure.URL), health.Certificate},
		"TLS to plain text":     {handshake, health.NotTLS},
		"it hangs up":           {get(plain.URL), health.NotTLS},
		"the end, wrapped":      {fmt.Errorf("reading: %w", io.ErrUnexpectedEOF), health.NotTLS},
		"too late":              {fmt.Errorf("asking: %w", context.DeadlineExceeded), health.Timeout},
		"what it says is wrong": {errors.New("no"), health.Refused},
	} {
		if tt.err == nil {
			t.Fatalf("%s: no error", name)
		}
		if got := health.Reason(tt.err); got != tt.want {
			t.Errorf("%s: got %s for %v, want %s", name, got, tt.err, tt.want)
		}
	}
}
