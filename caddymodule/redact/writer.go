package redact

import (
	"errors"
	"net/http"
	"sync"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/caddymodule/refusal"
	"github.com/svc-gateway/svc/internal/media"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/internal/respond"
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
	whole   // nothing was sent: it has to be asked for again, not for a part
)

// writer redacts one response.
type writer struct {
	respond.Writer
	handler *Handler
	request *http.Request
	secrets *redact.Secrets
	part    bool      // a part was asked for
	sent    *onlyOnce // the body of that request; nil: it has none
	mode    mode
	media   media.Body
	head    media.Head
	body    redact.Stream // nil until there is a byte that matters
	err     error         // ends the body
}

func newWriter(client http.ResponseWriter, r *http.Request, h *Handler, secrets *redact.Secrets) *writer {
	w := &writer{handler: h, request: r, secrets: secrets}
	w.Writer = respond.New(client, w)
	return w
}

// WriteHeader writes a header, redacted; those of the class 1xx too.
func (w *writer) WriteHeader(code int) {
	if w.mode == undecided && code < 200 {
		redactHeader(w.Header(), w.secrets)
	}
	w.Writer.WriteHeader(code)
}

// Begin decides what becomes of the response and writes its header, redacted.
func (w *writer) Begin(code int) {
	h := w.Header()
	w.media = media.Of(h)
	switch {
	case code == http.StatusSwitchingProtocols:
		w.refuse("upstream_upgraded", "the upstream changed the protocol")
		return
	case w.handler.passes(w.media):
		w.mode = passing
	case code == http.StatusPartialContent && w.part && (w.sent == nil || !w.sent.read):
		w.mode = whole
		return
	case w.redactable(code):
		w.mode = redacting
		weaken(h)
		for _, name := range describing {
			delete(h, name)
		}
	default:
		return
	}
	redactHeader(h, w.secrets)
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
	switch {
	case w.mode == whole:
		return 0, errPart
	case w.mode == refused:
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
	case start.Mark > 0: // of UTF-8, and no part of the text
		if _, w.err = w.ResponseWriter.Write(first[:start.Mark]); w.err != nil {
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
		_, w.err = w.ResponseWriter.Write(p)
		return
	}
	w.emit(func(dst []byte) []byte { return w.body.Append(dst, p) })
}

// emit writes what step appends. If step panics the response stays broken: nothing of it may
// come out later.
func (w *writer) emit(step func(dst []byte) []byte) {
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
}

// close writes the rest of the body and redacts the trailers. What fails concerns a client that is
// gone; there is nobody to tell.
func (w *writer) close() {
	h := w.Header()
	if w.mode == passing && (w.media.Kind == media.GRPC || h["Trailer"] != nil) {
		redactHeader(h, w.secrets)
	}
	if w.mode != redacting {
		return
	}
	if !w.head.Told && w.err == nil { // so short that nothing tells more
		w.open()
	}
	if w.body != nil && w.err == nil {
		w.emit(w.body.Close)
	}
	for _, name := range describing {
		delete(h, http.TrailerPrefix+name)
		delete(h, name)
	}
	redactHeader(h, w.secrets)
}

// buffers hold what a write emits, for the time of the write.
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 2048); return &b }}

// maxPooled is the capacity in bytes beyond which a buffer is not kept.
const maxPooled = 64 << 10
