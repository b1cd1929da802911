package redact

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/scanner/redact"
)

var (
	errRefused = errors.New("the response cannot be redacted and was refused")
	errWide    = errors.New("the response is UTF-16 or UTF-32 without saying so and cannot be redacted")
	errPacked  = errors.New("the response is compressed without saying so and cannot be redacted")
	errBroken  = errors.New("redacting the response failed")
)

// mode is what becomes of a response's body.
type mode uint8

const (
	undecided mode = iota // no final header yet
	passing               // untouched
	redacting
	refused // a problem was sent instead
)

// writer redacts one response. It has no Unwrap: http.ResponseController must not find a way
// around it.
type writer struct {
	http.ResponseWriter
	handler *Handler
	request *http.Request
	secrets *redact.Secrets
	mode    mode
	kind    kind
	body    redact.Stream // nil until there is a byte that matters
	first   []byte        // of the body, too few to tell what it is
	err     error         // ends the body
}

// WriteHeader decides what becomes of the response and writes its header, redacted.
func (w *writer) WriteHeader(code int) {
	h := w.Header()
	switch {
	case w.mode != undecided:
		w.ResponseWriter.WriteHeader(code) // superfluous; net/http says so
		return
	case code == http.StatusSwitchingProtocols:
		w.refuse("upstream_upgraded", "the upstream changed the protocol")
		return
	case code < 200:
		redactHeader(h, w.secrets)
		w.ResponseWriter.WriteHeader(code)
		return
	}
	w.kind = w.handler.kindOf(h)
	if w.kind == binary {
		w.mode = passing
	} else if !w.redactable(code, h) {
		return
	}
	redactHeader(h, w.secrets)
	w.ResponseWriter.WriteHeader(code)
}

// redactable prepares the header of a response that is going to be redacted, or refuses it.
func (w *writer) redactable(code int, h http.Header) bool {
	bodiless := code == http.StatusNoContent || code == http.StatusNotModified || w.request.Method == http.MethodHead
	switch {
	case bodiless:
	case encoded(h):
		w.refuse("upstream_encoded", "the upstream compressed its response though it was asked not to")
		return false
	case code == http.StatusPartialContent:
		w.refuse("upstream_partial", "the upstream sent a part of its response though it was asked for all")
		return false
	case w.kind == opaque:
		w.refuse("upstream_charset", "the upstream's Content-Type is ambiguous or names a character set that cannot be read")
		return false
	}
	w.mode = redacting
	for _, name := range describing {
		delete(h, name)
	}
	return true
}

func encoded(h http.Header) bool {
	for _, v := range h["Content-Encoding"] {
		if v = strings.TrimSpace(v); v != "" && !strings.EqualFold(v, "identity") {
			return true
		}
	}
	return false
}

// refuse answers with a problem in place of the response.
func (w *writer) refuse(code, reason string) {
	w.mode = refused
	h := w.Header()
	for name := range h {
		if !keptOnRefusal(name) {
			delete(h, name)
		}
	}
	w.handler.logger.Error("response refused because it cannot be redacted", zap.String("reason", reason))
	problem.Write(w.ResponseWriter, w.request, problem.Problem{
		Status: http.StatusBadGateway, Code: code,
		Detail: "The response cannot be redacted: " + reason + ".",
	})
}

// Write redacts p and writes what is certain by now. It reports p as written as a whole.
func (w *writer) Write(p []byte) (int, error) {
	if w.mode == undecided {
		w.WriteHeader(http.StatusOK)
	}
	switch {
	case w.mode == passing:
		return w.ResponseWriter.Write(p)
	case w.mode == refused:
		return 0, errRefused
	case w.err != nil:
		return 0, w.err
	}
	if err := w.take(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// take redacts a piece of the body, once enough of it came to tell what it is.
func (w *writer) take(p []byte) error {
	if w.body != nil {
		return w.append(p)
	}
	if len(w.first) > 0 {
		p = append(w.first, p...)
	}
	if early(p) {
		w.first = bytes.Clone(p)
		return nil
	}
	return w.start(p)
}

// append redacts a piece of the body.
func (w *writer) append(p []byte) error {
	return w.emit(func(dst []byte) []byte { return w.body.Append(dst, p) })
}

// start picks the transformer by the first bytes of the body, unless they are white space, and
// writes them.
func (w *writer) start(p []byte) error {
	w.first = nil
	switch {
	case wideStart(p):
		w.err = errWide
	case packedStart(p) && w.kind != unknown:
		w.err = errPacked
	}
	if w.err != nil {
		return w.err
	}
	text := bytes.TrimLeft(p, " \t\r\n")
	switch {
	case w.kind == events:
		w.body = w.secrets.EventStream()
	case w.kind == lines:
		w.body = w.secrets.LineStream()
	case w.kind == document:
		w.body = w.secrets.JSONStream()
	case len(text) == 0:
		_, w.err = w.ResponseWriter.Write(p)
		return w.err
	case text[0] == '{' || text[0] == '[':
		w.body = w.secrets.JSONStream()
	default:
		w.body = w.secrets.TextStream()
	}
	return w.append(p)
}

// emit writes what step appends. If step panics the response stays broken: nothing of it may
// come out later.
func (w *writer) emit(step func(dst []byte) []byte) error {
	buf := buffers.Get().(*[]byte)
	w.err = errBroken
	out := step((*buf)[:0])
	w.err = nil
	if len(out) > 0 {
		_, w.err = w.ResponseWriter.Write(out)
	}
	if cap(out) <= maxPooled {
		*buf = out
		buffers.Put(buf)
	}
	return w.err
}

// close writes the rest of the body and redacts the trailers.
func (w *writer) close() {
	if len(w.first) > 0 && w.err == nil {
		_ = w.start(w.first)
	}
	if w.body != nil && w.err == nil {
		// A client that is gone needs no rest; there is nobody to tell.
		_ = w.emit(w.body.Close)
	}
	if w.mode != redacting {
		return
	}
	h := w.Header()
	for _, name := range describing {
		delete(h, http.TrailerPrefix+name)
		delete(h, name)
	}
	redactHeader(h, w.secrets)
}

// ReadFrom copies r through Write unless the response passes untouched.
func (w *writer) ReadFrom(r io.Reader) (int64, error) {
	if w.mode == undecided {
		w.WriteHeader(http.StatusOK)
	}
	if rf, ok := w.ResponseWriter.(io.ReaderFrom); ok && w.mode == passing {
		return rf.ReadFrom(r)
	}
	return io.Copy(struct{ io.Writer }{w}, r)
}

// FlushError flushes what was written. The tail that could still become a secret stays.
func (w *writer) FlushError() error {
	if w.mode == undecided {
		w.WriteHeader(http.StatusOK)
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Hijack is refused: nothing would be redacted any more.
func (w *writer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return nil, nil, http.ErrNotSupported
}

// SetReadDeadline passes the deadline on.
func (w *writer) SetReadDeadline(t time.Time) error {
	return http.NewResponseController(w.ResponseWriter).SetReadDeadline(t)
}

// SetWriteDeadline passes the deadline on.
func (w *writer) SetWriteDeadline(t time.Time) error {
	return http.NewResponseController(w.ResponseWriter).SetWriteDeadline(t)
}

// EnableFullDuplex passes the wish on.
func (w *writer) EnableFullDuplex() error {
	return http.NewResponseController(w.ResponseWriter).EnableFullDuplex()
}

// buffers hold what a write emits, for the time of the write.
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 2048); return &b }}

// maxPooled is the capacity in bytes beyond which a buffer is not kept.
const maxPooled = 64 << 10

var _ io.ReaderFrom = (*writer)(nil)
