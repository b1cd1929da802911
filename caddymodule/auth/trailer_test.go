package auth

import (
	"io"
	"maps"
	"net/http"
	"strconv"
	"sync"
	"testing"

	"github.com/svc-gateway/svc/internal/headername"
)

// serverBody is a body as Go's server has it: whoever finds its end, by reading or by closing it, has
// the fields behind it added to the map of the request.
type serverBody struct {
	sync.Mutex
	trailer, fields http.Header
	ended, closed   bool
}

func (b *serverBody) end() {
	if !b.ended {
		maps.Copy(b.trailer, b.fields)
		b.ended = true
	}
}

func (b *serverBody) Read([]byte) (int, error) {
	b.Lock()
	defer b.Unlock()
	if b.closed {
		return 0, http.ErrBodyReadAfterClose
	}
	b.end()
	return 0, io.EOF
}

func (b *serverBody) Close() error {
	b.Lock()
	defer b.Unlock()
	b.end()
	b.closed = true
	return nil
}

// An HTTP/2 transport closes the body in one goroutine while it reads it in another, which then sends
// the trailers.
func TestTrailersWhileTheBodyIsClosed(t *testing.T) {
	fields := http.Header{"X-Sum": {"right"}}
	for i := range 280 {
		fields["X-Svc-"+strconv.Itoa(i)] = []string{"forged"}
	}
	for range 2000 {
		trailer := http.Header{"X-Sum": nil, "X-Svc-Role": nil}
		r := &http.Request{Trailer: trailer, Body: &serverBody{trailer: trailer, fields: fields}}
		newReserved(nil, nil).stripTrailers(r)
		var both sync.WaitGroup
		both.Go(func() {
			_, err := io.Copy(io.Discard, r.Body)
			for name, values := range r.Trailer {
				if name != "X-Sum" || err == nil && len(values) != 1 {
					t.Errorf("%s is %q", name, values)
				}
			}
		})
		both.Go(func() {
			if err := r.Body.Close(); err != nil {
				t.Error(err)
			}
		})
		both.Wait()
	}
}

func TestNotBehind(t *testing.T) {
	s := newReserved(nil, nil)
	for name, want := range map[string]bool{
		"X-Checksum": true, "Server-Timing": true, "X-Forward": true,
		"X-Forwarded-For": false, "X-Forwarded-Port": false, "X_forwarded_prefix": false, "X-Real-Ip": false, "X_real_ip": false,
		"Forwarded": false, "Via": false, "Proxy-Authorization": false, "Cookie": false, "X-Svc-Role": false, "Authorization": false,
	} {
		if got := s.letsBehind(name); got != want {
			t.Errorf("%s: got %t, want %t", name, got, want)
		}
	}
}

func TestRespelt(t *testing.T) {
	s := newReserved(nil, nil)
	for name, want := range map[string]bool{
		"X_forwarded_port": true, "X-Forwarded_prefix": true, "X.forwarded.server": true, "X_real_ip": true, "Forwarded_": true, "X_forwarded_for": true,
		"Xforwardedfor": true, "X-Forwarded-For": false, "X-Forwarded-Port": false, "X-Real-Ip": false, "Forwarded": false, "X_forward": false, "X_forwardfor": false,
	} {
		if got := s.respelt(name, headername.AppendFold(nil, name)); got != want {
			t.Errorf("%s: got %t, want %t", name, got, want)
		}
	}
}
