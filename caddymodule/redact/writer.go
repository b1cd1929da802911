package redact

import (
	"errors"
	"net/http"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/caddymodule/refusal"
	"github.com/svc-gateway/svc/internal/media"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/internal/respond"
	"github.com/svc-gateway/svc/internal/websocket"
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
	talking // a WebSocket, whose messages are redacted
	refused // a problem was sent instead
	whole   // nothing was sent: it has to be asked for again, not for a part
)

// writer redacts one response.
type writer struct {
	respond.Writer
	handler *Handler
	request *http.Request
	part    bool            // a part was asked for
	sent    *onlyOnce       // the body of that request; nil: it has none
	allowed *redact.Allowed // by the rules
	secrets *redact.Secrets // of this response
	report  *report
	status  int
	socket  *socket // once the connection was given away
	mode    mode
	media   media.Body
	head    media.Head
	body    redact.Stream // nil until there is a byte that matters
	err     error         // ends the body
	work    work          // that redacting the body was
	pauses  pauses
}

func newWriter(client http.ResponseWriter, r *http.Request, h *Handler, allowed *redact.Allowed) *writer {
	w := &writer{handler: h, request: r, allowed: allowed, report: &report{handler: h, request: r}}
	w.secrets = w.known(allowed)
	w.Writer = respond.New(client, w)
	return w
}

// known returns the secrets of the response with what is allowed.
func (w *writer) known(allowed *redact.Allowed) *redact.Secrets {
	return w.handler.known.of(w.request).Watched(allowed, w.report.note)
}

// observes reports whether the response is not to be changed.
func (w *writer) observes() bool { return w.handler.Mode == observe }

// WriteHeader writes a header, redacted; those of the class 1xx too.
func (w *writer) WriteHeader(code int) {
	if w.mode == undecided && code < 200 {
		w.redactHeader(w.Header())
	}
	w.Writer.WriteHeader(code)
}

// Begin decides what becomes of the response and writes its header, redacted.
func (w *writer) Begin(code int) {
	h := w.Header()
	w.media, w.status = media.Of(h), code
	switch {
	case code == http.StatusSwitchingProtocols && websocket.Asks(w.request) && websocket.Opens(h):
		w.mode = talking
	case code == http.StatusSwitchingProtocols:
		if w.refuse("upstream_upgraded", "the upstream changed the protocol"); !w.observes() {
			return
		}
		w.mode = passing
	case w.handler.passes(w.media):
		w.mode = passing
	case code == http.StatusPartialContent && w.part && (w.sent == nil || !w.sent.read):
		w.mode = whole
		return
	case w.redactable(code):
		w.mode = redacting
		if !w.observes() {
			weaken(h)
			for _, name := range describing {
				delete(h, name)
			}
		}
	case w.observes():
		w.mode = passing
	default:
		return
	}
	w.redactHeader(h)
	w.ResponseWriter.WriteHeader(code)
}

// redactable reports whether a response can be redacted; one that cannot is refused.
func (w *writer) redactable(code int) bool {
	switch {
	case code == http.StatusNoContent || code == http.StatusNotModified || w.request.Method == http.MethodHead:
		return true // there is no body
	case w.media.Coding != "":
		w.refuse("upstream_encoded", "the upstream compressed its response though it was asked not to")
	case code == http.StatusPartialContent:
		w.refuse("upstream_partial", "the upstream sent a part of its response though it was asked for all")
	case !w.media.Readable():
		w.refuse("upstream_charset", "the upstream's Content-Type is ambiguous or names a character set that cannot be read")
	default:
		return true
	}
	return false
}

// refuse answers with a problem in place of the response.
func (w *writer) refuse(code, reason string) {
	if w.observes() {
		w.handler.logger.Info("would be refused because it cannot be redacted", zap.String("code", code), zap.String("reason", reason),
			zap.String("method", w.request.Method), zap.String("path", w.request.URL.Path))
		return
	}
	w.mode = refused
	w.handler.logger.Error("response refused because it cannot be redacted", zap.String("reason", reason))
	w.Instead(func(out http.ResponseWriter) {
		refusal.Write(out, w.request, problem.Problem{
			Status: http.StatusBadGateway, Code: code,
			Detail: "The response cannot be redacted: " + reason + ".",
		})
	})
}

// Passes reports whether the body is left alone.
func (w *writer) Passes() bool { return w.mode == passing }

// Body redacts p and writes what is certain by now. It reports p as written as a whole.
func (w *writer) Body(p []byte) (int, error) {
	w.pauses.mu.Lock()
	defer w.pauses.mu.Unlock()
	defer w.watchPause()
	if w.observes() {
		n, err := w.ResponseWriter.Write(p)
		if err == nil && w.err == nil {
			_, w.err = w.take(p) // which is only about what is observed
		}
		return n, err
	}
	return w.take(p)
}

// take redacts the next piece of the body.
func (w *writer) take(p []byte) (int, error) {
	switch {
	case w.mode == whole:
		return 0, errPart
	case w.mode == refused, w.mode == talking:
		return 0, errRefused
	case w.err != nil:
		return 0, w.err
	case w.body == nil && !w.head.Told:
		if !w.head.Add(p, w.media.Kind) {
			return len(p), nil
		}
		w.open()
	default:
		w.redact(p)
	}
	if w.err != nil {
		return 0, w.err
	}
	return len(p), nil
}

// open begins to redact the body by what its first bytes tell.
func (w *writer) open() {
	start, first := w.head.Start, w.head.Bytes()
	switch {
	case len(first) == 0:
		return
	case !start.Charset.Readable():
		w.err = errWide
		return
	case start.Format.Packed() && w.media.Kind.Textual():
		w.err = errPacked
		return
	case start.Format.Packed() && start.Format != media.Zip:
		w.body = &packed{format: start.Format}
	case start.Mark > 0: // of UTF-8, and no part of the text
		if w.write(first[:start.Mark]); w.err != nil {
			return
		}
	}
	w.redact(first[start.Mark:])
}

// redact redacts a piece of the body and writes what is certain by now.
func (w *writer) redact(p []byte) {
	if w.body == nil {
		w.body = w.transformer(p)
	}
	if w.body == nil { // white space
		w.write(p)
		return
	}
	before := w.work.written
	w.emit(func(dst []byte) []byte { return w.body.Append(dst, p) })
	w.work.read += len(p)
	if w.work.written == before {
		w.work.held++
	}
}

// emit writes what step appends. If step panics the response stays broken: nothing of it may
// come out later.
func (w *writer) emit(step func(dst []byte) []byte) {
	buf := buffers.Get().(*[]byte)
	w.err = errBroken
	began := time.Now()
	out := step((*buf)[:0])
	w.work.took += time.Since(began)
	w.err = nil
	if p, ok := w.body.(*packed); ok && p.text {
		w.err = errPacked
		return
	}
	if len(out) > 0 {
		w.work.written += len(out)
		w.write(out)
	}
	if cap(out) <= maxPooled {
		*buf = out
		buffers.Put(buf)
	}
}

// write writes what is certain, unless all went to the client already.
func (w *writer) write(p []byte) {
	if !w.observes() {
		_, w.err = w.ResponseWriter.Write(p)
	}
}

// close writes the rest of the body and redacts the trailers. What fails concerns a client that is
// gone; there is nobody to tell.
func (w *writer) close() {
	switch {
	case w.mode == redacting:
		w.finish()
	case w.mode == passing && !w.observes() && (w.media.Kind == media.GRPC || w.Header()["Trailer"] != nil):
		w.redactHeader(w.Header())
	}
	if w.socket != nil {
		w.socket.stop()
	}
	w.handler.metrics.worked(w.handler, w.request, w.work)
	w.report.log(w.request, w.status)
	if w.report.token && w.handler.OAuthTokens == toRedact && !w.observes() && mayIssue(w.request, w.status, w.media) {
		w.handler.hint.Do(func() {
			w.handler.logger.Warn("the access token in the answer of what seems to be a token endpoint was redacted: with oauth_tokens pass it reaches the client",
				zap.String("path", w.request.URL.Path))
		})
	}
}

// finish writes the rest of a body that is redacted.
func (w *writer) finish() {
	if !w.head.Told && w.err == nil { // so short that nothing tells more
		w.open()
	}
	if w.body != nil && w.err == nil {
		w.emit(w.body.Close)
	}
	h := w.Header()
	for _, name := range describing {
		if !w.observes() {
			delete(h, http.TrailerPrefix+name)
			delete(h, name)
		}
	}
	w.redactHeader(h)
}

// buffers hold what a write emits, for the time of the write.
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 2048); return &b }}

// maxPooled is the capacity in bytes beyond which a buffer is not kept.
const maxPooled = 64 << 10
