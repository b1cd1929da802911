package redact

import (
	"errors"
	"io"
	"maps"
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/svc-gateway/svc/internal/respond"
	"github.com/svc-gateway/svc/internal/websocket"
	"github.com/svc-gateway/svc/scanner/redact"
)

// errPart is why an answer to a request for a part goes nowhere.
var errPart = errors.New("a part of a response that has to be redacted is not sent")

// asksForPart reports whether a request asks for a part, and could be made again.
func asksForPart(r *http.Request) bool {
	return r.Method == http.MethodGet && r.Header["Range"] != nil && r.ContentLength <= 0
}

// onlyOnce is the body of a request that cannot be made again once some of it was read.
type onlyOnce struct {
	io.ReadCloser
	read bool
}

func (b *onlyOnce) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read = b.read || n > 0
	return n, err
}

// servePart passes a part on of what needs no redaction. A part of anything else could begin in the middle of a
// secret: then nothing is sent, the request is as it was, and has to be asked again for the whole.
func (h *Handler) servePart(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler, allowed *redact.Allowed) (sent bool, err error) {
	header, asked := w.Header().Clone(), r.Clone(r.Context())
	rw := newWriter(w, r, h, allowed)
	if r.Body != nil {
		rw.sent = &onlyOnce{ReadCloser: r.Body}
		r.Body = rw.sent
	}
	rw.part = true
	err = h.serve(rw, r, next)
	if rw.mode != whole {
		return true, err
	}
	clear(w.Header())
	maps.Copy(w.Header(), header)
	r.Method, r.RequestURI, r.Host = asked.Method, asked.RequestURI, asked.Host
	*r.URL = *asked.URL // in place: placeholders are read from there
	clear(r.Header)
	maps.Copy(r.Header, asked.Header)
	return false, nil
}

// serve has the next handler answer.
func (h *Handler) serve(rw *writer, r *http.Request, next caddyhttp.Handler) (err error) {
	defer func() {
		if rw.mode == refused || rw.mode == whole { // the client has its answer, or gets it yet
			respond.Forgive(recover())
			err = nil
		}
	}()
	// Where the handler panics the response breaks off, with no more of it than was certain.
	if err = rw.run(next, r); err != nil {
		rw.err = errBroken
	} else if rw.mode == undecided && websocket.Asks(r) { // reverse_proxy, after a 101 for something else, did not mean 200
		rw.refuse("upstream_upgraded", "the upstream did not open the WebSocket")
	}
	rw.close()
	return err
}

// run has the handler answer, and lets nothing be written afterwards but by close. A response that was broken in a
// pause is broken off.
func (w *writer) run(next caddyhttp.Handler, r *http.Request) error {
	defer func() {
		if w.pauses.end(); w.pauses.broke {
			panic(http.ErrAbortHandler)
		}
	}()
	return next.ServeHTTP(w, r)
}

// FlushError flushes what is certain.
func (w *writer) FlushError() error {
	w.pauses.mu.Lock()
	defer w.pauses.mu.Unlock()
	if w.Imply(); w.mode == whole {
		return nil
	}
	return w.Writer.FlushError()
}
