package api_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/svc-gateway/svc/agents/api"
	"github.com/svc-gateway/svc/internal/budget"
	"github.com/svc-gateway/svc/internal/bus"
)

// A client that begins a command on a WebSocket and does not go on is cut, and with it what the command holds. One
// that is silent between commands is not.
func TestUnfinishedCommandsAreCut(t *testing.T) {
	const most = 300 * time.Millisecond
	s := newServerWith(t, parrot{}, bus.NewMemory(), api.Options{BodyBytes: 64 << 10, Memory: budget.New(64 << 20), Version: "test", CommandTime: most})
	thread := s.thread("ada")
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET /threads/%s/stream/events HTTP/1.1\r\nHost: x\r\nX-Test-User: ada\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", thread)
	silent := s.socket("ada", thread)
	// A text that goes on after this piece of it, under a mask of zeros.
	if _, err := conn.Write(append([]byte{0x01, 0x80 | 5, 0, 0, 0, 0}, `{"id"`...)); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	if err := conn.SetReadDeadline(begun.Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, conn); err != nil {
		t.Errorf("the connection is not cut: %v", err)
	}
	if took := time.Since(begun); took < most/2 {
		t.Errorf("it is cut after %s, before its time", took)
	}
	if err := silent.Ping(silent.CloseRead(t.Context())); err != nil {
		t.Errorf("the silent one is cut: %v", err)
	}
}
