package redact

import (
	"bufio"
	"bytes"
	"errors"
	"net"
	"sync"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/internal/websocket"
)

// maxMessage is the most bytes of a text message of a WebSocket. A longer one ends it.
const maxMessage = 1 << 20

// socket is the client's connection of a WebSocket: what is written to it is redacted message by
// message. Once it is stopped nothing can be written any more.
type socket struct {
	net.Conn
	w *writer

	mu       sync.Mutex
	messages websocket.Rewriter
	out      []byte
	stopped  bool
}

var errStopped = errors.New("the WebSocket has ended")

// Hijack gives the connection of a WebSocket away.
func (w *writer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	if w.mode != talking {
		return w.Writer.Hijack()
	}
	conn, rw, err := w.Tunnel()
	if err != nil {
		return nil, nil, err
	}
	w.socket = &socket{Conn: conn, w: w}
	w.socket.messages = websocket.Rewriter{Take: w.redactMessage, Max: maxMessage}
	return w.socket, bufio.NewReadWriter(rw.Reader, bufio.NewWriter(w.socket)), nil
}

// redactMessage redacts a text message: a document, if it begins like one.
func (w *writer) redactMessage(m websocket.Piece) ([]byte, error) {
	if start := bytes.TrimLeft(m.Data, " \t\r\n"); len(start) > 0 && (start[0] == '{' || start[0] == '[' || start[0] == '"') {
		return w.secrets.RedactJSON(m.Data), nil
	}
	return []byte(w.secrets.Redact(string(m.Data))), nil
}

// Write redacts what the server sends and passes on what is complete.
func (s *socket) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return 0, errStopped
	}
	out, err := s.messages.Append(s.out[:0], p)
	if s.out = out[:0]; cap(s.out) > maxPooled {
		s.out = nil
	}
	if s.w.observes() {
		return s.Conn.Write(p)
	}
	if len(out) > 0 {
		if _, err := s.Conn.Write(out); err != nil {
			return 0, err
		}
	}
	if err != nil {
		s.stopped = true
		s.w.handler.logger.Error("a WebSocket was closed because it cannot be redacted", zap.Error(err))
		return 0, err
	}
	return len(p), nil
}

// stop waits for a write that goes on, and lets no other through.
func (s *socket) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
}
