package scan

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/svc-gateway/svc/internal/websocket"
)

// socket is the client's connection of a WebSocket. What is read from it and written to it was scanned
// message by message. When a message is refused, both ends are told why by a Close frame.
type socket struct {
	net.Conn
	from io.Reader // what the client sends

	// Of who reads.
	in     *talk
	buf    []byte
	passed []byte // what may pass of the last piece that came
	ready  []byte // the rest of it, which is not read yet
	failed error  // after that

	writing sync.Mutex // serialises writes of the server; guards what follows
	out     *talk
	scanned []byte

	mu    sync.Mutex // guards what goes to the client, and what follows
	apart bool       // what went ends within a frame
	ended error      // why nothing goes any more

	drained chan struct{} // closed when the client has sent its last, after the end
}

// linger is how long a client is listened to that was told why its connection ends. One that is closed
// while the client sends may break off before it has read that.
const linger = time.Second

var errStopped = errors.New("the WebSocket has ended")

// newSocket takes over a connection. sent is what was read of it already.
func newSocket(t *tunnel, conn net.Conn, sent []byte) *socket {
	return &socket{Conn: conn, from: io.MultiReader(bytes.NewReader(sent), conn), in: t.talk(request), out: t.talk(response), drained: make(chan struct{})}
}

// Read reads what the client sends and may pass.
func (s *socket) Read(p []byte) (int, error) {
	for len(s.ready) == 0 && s.failed == nil && len(p) > 0 {
		s.next()
	}
	n := copy(p, s.ready)
	if s.ready = s.ready[n:]; n > 0 || s.failed == nil {
		return n, nil
	}
	s.drain()
	return 0, s.failed
}

// next reads on and scans what came.
func (s *socket) next() {
	if s.buf == nil {
		s.buf = make([]byte, window/2)
	}
	n, err := s.from.Read(s.buf)
	if ended := s.over(); ended != nil { // by what the server sent: it is told as well
		s.ready, s.failed = websocket.AppendClose(nil, ended, true), ended
		return
	}
	if cap(s.passed) > 2*window {
		s.passed = nil // it was that of a long message
	}
	s.passed, s.failed = s.in.frames.Append(s.passed[:0], s.buf[:n])
	s.ready = s.passed
	switch {
	case s.failed != nil:
		s.end(s.failed, true)
	case errors.Is(err, io.EOF) && !s.in.frames.Closing():
		s.failed = io.ErrUnexpectedEOF // a WebSocket has no half that stays open
	default:
		s.failed = err
	}
}

// drain reads what a client still sends after the end, and forgets it.
func (s *socket) drain() {
	if s.over() == nil {
		return
	}
	select {
	case <-s.drained:
		return
	default:
	}
	_ = s.SetReadDeadline(time.Now().Add(linger))
	_, _ = io.CopyN(io.Discard, s.from, maxDrain) // until it has closed, or its time is over
	close(s.drained)
}

// Write scans what the server sends and passes on what may pass.
func (s *socket) Write(p []byte) (int, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	out, err := s.out.frames.Append(s.scanned[:0], p)
	if s.scanned = out[:0]; cap(out) > 2*window {
		s.scanned = nil
	}
	if sendErr := s.send(out, !s.out.frames.Between()); sendErr != nil {
		return 0, sendErr
	}
	if err != nil {
		s.end(err, false)
		_ = s.SetReadDeadline(time.Now()) // Read stops waiting for the client, and tells the server
		return 0, err
	}
	return len(p), nil
}

// Close closes the connection. A client that was told why it ends is given the time to read that.
func (s *socket) Close() error {
	if err := s.over(); err != nil && !errors.Is(err, errStopped) {
		late := time.NewTimer(linger)
		defer late.Stop()
		select {
		case <-s.drained:
		case <-late.C:
		}
	}
	return s.Conn.Close()
}

// send writes to the client.
func (s *socket) send(p []byte, apart bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended != nil {
		return s.ended
	}
	s.apart = true // unless all of it goes
	if len(p) > 0 {
		if _, err := s.Conn.Write(p); err != nil {
			return err
		}
	}
	s.apart = apart
	return nil
}

// end ends the connection because of a message, and has the client told if it was not.
func (s *socket) end(err error, tell bool) {
	until := time.Now().Add(linger)
	_ = s.SetDeadline(until) // who writes to a client that does not read gives way
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended != nil {
		return
	}
	s.ended = err
	if tell && !s.apart {
		_, _ = s.Conn.Write(websocket.AppendClose(nil, err, false)) // a client that is gone need not know
	}
	if half, ok := s.Conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
}

// over returns why the connection has ended, nil while it has not.
func (s *socket) over() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

// stop lets nothing through any more.
func (s *socket) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended == nil {
		s.ended = errStopped
	}
}
