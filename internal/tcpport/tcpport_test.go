//go:build linux

package tcpport_test

import (
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/svc-gateway/svc/internal/tcpport"
)

func TestReserve(t *testing.T) {
	p := tcpport.ForTest(t)
	if !strings.HasSuffix(p.Addr(), ":"+p.String()) {
		t.Errorf("got %s and %s", p.Addr(), p)
	}
	if _, err := net.Dial("tcp", p.Addr()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("got %v while nobody listens, want ECONNREFUSED", err)
	}
	for _, address := range []string{p.Addr(), p.Addr(), "0.0.0.0:" + p.String()} { // again and again
		ln, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatalf("listening on %s: %v", address, err)
		}
		if _, err := net.Listen("tcp", address); !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("listening twice on %s: got %v, want EADDRINUSE", address, err)
		}
		c, err := net.Dial("tcp", p.Addr())
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(c.Close(), ln.Close()); err != nil {
			t.Error(err)
		}
	}
}

// Nobody who asks for any port gets a reserved one.
func TestReservedIsGivenToNobody(t *testing.T) {
	reserved := map[string]bool{}
	for range 500 {
		p := tcpport.ForTest(t)
		if reserved[p.String()] {
			t.Fatalf("port %s is reserved twice", p)
		}
		reserved[p.String()] = true
	}
	for range 500 {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ln.Close() })
		if _, port, _ := net.SplitHostPort(ln.Addr().String()); reserved[port] {
			t.Fatalf("port %s was given to a listener", port)
		}
	}
}
