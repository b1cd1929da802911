package stream

import (
	"bufio"
	"context"
	"errors"
	"math"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/internal/media"
	"github.com/svc-gateway/svc/internal/respond"
	"github.com/svc-gateway/svc/policy"
)

// writer is the ResponseWriter of one response. Until the header says that a stream begins it only
// passes calls on.
type writer struct {
	respond.Writer
	handler *Handler
	request *http.Request // as the next handler sees it
	cancel  context.CancelCauseFunc

	live   bool // a stream has begun: of events, lines of JSON or gRPC messages
	beats  bool // and keepalives fit into it: it is one of events, and not compressed
	tunnel bool // the connection was given away

	returned bool // the next handler has, and did not panic

	until    atomic.Int64 // 0 while open; then when writing ends, in Unix nanoseconds
	failures atomic.Int32 // checks of the principal in a row that could not be made

	timer   *time.Timer // nil: nothing is looked after
	restore func()      // gives the connection its own write deadlines back; nil: there are none

	mu   sync.Mutex // serialises the handler's writes with keepalives; guards what follows
	tail tail
	last time.Time // of the last write
	done bool      // the handler has returned

	counts *counts
}

// Begin passes the header on. One of a stream goes out at once.
func (w *writer) Begin(code int) {
	h := w.Header()
	b := media.Of(h)
	switch b.Kind {
	case media.Events:
		w.beats = b.Coding == ""
		h.Del("Content-Length") // keepalives would not fit
		if h["Cache-Control"] == nil {
			h.Set("Cache-Control", "no-cache")
		}
		fallthrough
	case media.JSONLines, media.JSONSequence:
		h.Set("X-Accel-Buffering", "no") // a proxy in front of us must not hold pieces back
		fallthrough
	case media.GRPC:
		w.live = true
		w.counts = w.handler.begin(w.request.Context(), kinds[b.Kind])
		w.open(code)
	default:
		w.ResponseWriter.WriteHeader(code)
	}
}

// open writes the header of a stream and starts to look after it.
func (w *writer) open(code int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, iw := caddyhttp.IdleTimeoutsFromContext(w.request.Context()); iw != nil {
		w.restore = iw.Override(time.Duration(w.handler.WriteTimeout), 0, 0)
	}
	w.tail, w.last = newTail(), time.Now()
	w.ResponseWriter.WriteHeader(code)
	if w.Header()["Grpc-Status"] == nil { // else this is the end as well, and has to be told in one piece
		_ = w.flush() // a client that is gone shows at the first write
	}
	w.watch()
}

// watch begins to look after what stays open.
func (w *writer) watch() {
	w.timer = time.AfterFunc(time.Hour, w.tick)
	w.timer.Reset(w.wait(w.last))
	w.handler.hub.enter(w)
}

// Passes reports whether the response is no stream.
func (w *writer) Passes() bool { return !w.live }

// Body writes a piece of a stream and flushes it.
func (w *writer) Body(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if until := w.until.Load(); until != 0 && time.Now().UnixNano() > until {
		return 0, context.Cause(w.request.Context())
	}
	n, err := w.send(p)
	w.tail.note(p[:n])
	return n, err
}

// send writes and flushes within the write timeout. A client that cannot take it is cut.
func (w *writer) send(p []byte) (int, error) {
	w.last = time.Now()
	if w.restore == nil {
		rc := http.NewResponseController(w.ResponseWriter)
		if rc.SetWriteDeadline(w.last.Add(time.Duration(w.handler.WriteTimeout))) == nil {
			// On HTTP/2 a deadline that is left standing ends the stream by itself.
			defer rc.SetWriteDeadline(time.Time{}) //nolint:errcheck // it was supported a moment ago
		}
	}
	n, err := w.ResponseWriter.Write(p)
	if err == nil {
		err = w.flush()
	}
	w.counts.wrote(n, time.Since(w.last))
	if err != nil {
		w.end(err)
	}
	return n, err
}

func (w *writer) flush() error {
	err := http.NewResponseController(w.ResponseWriter).Flush()
	if errors.Is(err, http.ErrNotSupported) {
		return nil // nothing between here and the client buffers, or nothing can be done about it
	}
	return err
}

// FlushError flushes. In a stream there is nothing left to flush.
func (w *writer) FlushError() error {
	w.Imply()
	if w.live {
		return nil
	}
	return w.Writer.FlushError()
}

// Hijack gives the connection away, unless it carries a stream. What becomes of it, such
// as a WebSocket, is looked after as well: reverse_proxy closes it when the context ends.
func (w *writer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	if w.live {
		return nil, nil, http.ErrHijacked
	}
	conn, rw, err := w.Tunnel()
	if err == nil {
		w.tunnel, w.last = true, time.Now()
		w.counts = w.handler.begin(w.request.Context(), kindTunnel)
		w.watch()
	}
	return conn, rw, err
}

// SetWriteDeadline sets the deadline for responses that are not streams. Those have their
// own for each write.
func (w *writer) SetWriteDeadline(t time.Time) error {
	if w.live {
		return nil
	}
	return w.Writer.SetWriteDeadline(t)
}

// over reports whether this stage ended the stream.
func (w *writer) over() bool { return w.until.Load() != 0 }

// end cancels the handler's context with the cause. The first cause counts. A handler that goes
// on when the process stops may do so for as long as the server waits for it.
func (w *writer) end(cause error) {
	until := time.Now().Add(time.Duration(w.handler.Grace)).UnixNano()
	if errors.Is(cause, policy.ErrStopping) {
		until = math.MaxInt64
	}
	if !w.until.CompareAndSwap(0, until) {
		return
	}
	w.cancel(cause)
	if w.live && !w.beats && w.request.ProtoMajor > 1 {
		// The HTTP client of a proxy that waits for more of the request's body does not look at its context.
		_ = http.NewResponseController(w.ResponseWriter).SetReadDeadline(time.Now())
	}
}

// stop is end for a process that goes down. Caddy itself takes leave of tunnels then.
func (w *writer) stop() {
	if !w.tunnel {
		w.end(policy.ErrStopping)
	}
}

// finish lets the writer go. Afterwards nothing is written any more. An error of the handler is
// returned only while a different answer is still possible.
func (w *writer) finish(err error) error {
	defer w.cancel(nil)
	if w.timer == nil {
		return err
	}
	w.handler.hub.leave(w)
	w.timer.Stop()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done = true
	w.counts.end(w.reason(err))
	if w.restore != nil {
		w.restore()
	}
	if w.tunnel {
		return err
	}
	if err != nil && !w.over() {
		w.handler.logger.Warn("stream ended with an error", zap.Error(err))
	}
	return nil
}
