package stream_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/svc-gateway/svc/caddymodule/auth/caddytest"
	"github.com/svc-gateway/svc/policy"
)

// echo is a foreign server that switches to WebSocket and sends back what it gets.
func echo(t *testing.T) string {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		io.Copy(conn, rw)
	}))
	t.Cleanup(up.Close)
	return up.URL
}

// tunnel opens a WebSocket.
func tunnel(t *testing.T, srv *caddytest.Server, token string) (net.Conn, *bufio.Reader) {
	t.Helper()
	r := srv.Request(http.MethodGet, "/", "", "Authorization", "Bearer "+token, "Connection", "Upgrade", "Upgrade", "websocket")
	conn, err := net.Dial("tcp", r.URL.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(10 * time.Second))
	if err := r.Write(conn); err != nil {
		t.Fatal(err)
	}
	from := bufio.NewReader(conn)
	resp, err := http.ReadResponse(from, r)
	if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("got %v, %v, want 101", resp, err)
	}
	return conn, from
}

// The attack: somebody whose token is revoked goes on with the WebSocket that is open.
func TestRevokedTunnel(t *testing.T) {
	srv := caddytest.Start(t, caddytest.Config{Site: "svc_auth\nsvc_stream {\nkeepalive 100ms\n}\nreverse_proxy " + echo(t)})
	_, ursula := tunnel(t, srv, srv.AddUser("ursula", policy.User, time.Time{}))
	conn, admin := tunnel(t, srv, srv.Token)
	if _, err := srv.Admin().RevokeToken(context.Background(), "ursula", ""); err != nil {
		t.Fatal(err)
	}
	if b, err := ursula.ReadByte(); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %q, %v, want the end of the connection", b, err)
	}
	io.WriteString(conn, "still here\n")
	if line, err := admin.ReadString('\n'); line != "still here\n" {
		t.Errorf("the other connection: got %q, %v", line, err)
	}
}
