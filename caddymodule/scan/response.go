package scan

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/internal/problem"
)

// errEnded means that the response was refused, or ended because of a finding.
var errEnded = errors.New("the response was ended because of what was found in it")

// mode is what becomes of a response's body.
type mode uint8

const (
	undecided mode = iota // no final header yet
	passing               // nothing to scan
	gathering             // passes at once, and a copy is scanned at the end
	holding               // waits until it was scanned
	windowing             // longer than max_scan: each window waits until it was scanned
	recording             // events or lines, each scanned by itself
	ended                 // refused, or ended after a finding
)

// writer scans one response. It has no Unwrap: http.ResponseController must not find a way
// around it.
type writer struct {
	http.ResponseWriter
	handler *Handler
	request *http.Request
	report  *report
	mode    mode
	status  int
	torn    bool // ended in the middle: the client must see that it is not whole
	strict  bool // something may be blocked or annotated: nothing passes before it was scanned
	buf     []byte
	windows *windows
	records *records
}

// respond calls the next handler with a writer that scans, if responses are scanned.
func (h *Handler) respond(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) (err error) {
	if !h.scans(response) {
		return next.ServeHTTP(w, r)
	}
	if h.Encoded != encodedPass {
		r.Header["Accept-Encoding"] = []string{"identity"}
	}
	rw := &writer{
		ResponseWriter: w, handler: h, request: r, report: h.newReport(r, response),
		strict: h.does(actionBlock) || h.does(actionAnnotate),
	}
	defer func() {
		if rw.mode == ended {
			// The client has its answer. What the handler says about its failed writes, be it
			// by the panic of reverse_proxy, concerns nobody.
			if p := recover(); p != nil && p != http.ErrAbortHandler { //nolint:errorlint // the sentinel itself is thrown
				panic(p)
			}
			err = nil
		}
		rw.report.publish(r)
		if rw.torn {
			panic(http.ErrAbortHandler)
		}
	}()
	if err = next.ServeHTTP(rw, r); err == nil {
		err = rw.close()
	}
	return err
}

// WriteHeader decides what becomes of the response.
func (w *writer) WriteHeader(code int) {
	if code == http.StatusSwitchingProtocols && w.strict && w.mode == undecided {
		w.mode = w.refuse("upstream_upgraded", "the upstream changed the protocol")
		return
	}
	if w.mode != undecided || code < 200 {
		if w.mode == undecided || w.mode == passing {
			w.ResponseWriter.WriteHeader(code)
		}
		return
	}
	w.status = code
	switch w.mode = w.decide(code); w.mode {
	case holding, ended:
	default:
		w.ResponseWriter.WriteHeader(code)
	}
}

// decide tells by its header what becomes of a response; one that cannot be scanned is refused.
func (w *writer) decide(code int) mode {
	h := w.Header()
	encoding := coding(h)
	kind := kindOf(h)
	switch {
	case code == http.StatusNoContent, code == http.StatusNotModified, w.request.Method == http.MethodHead, kind == binary:
		return passing
	case encoding != "" && w.handler.Encoded == encodedPass:
		w.handler.logger.Warn("response body passes unscanned because it is encoded",
			zap.String("encoding", encoding), zap.String("method", w.request.Method), zap.String("path", w.request.URL.Path))
		return passing
	case encoding != "" && w.handler.Encoded == encodedRefuse:
		return w.refuse("upstream_encoded", "the upstream compressed its response though it was asked not to")
	case wide(h.Get("Content-Type")):
		return w.refuse("upstream_charset", "the upstream's Content-Type names a character set that cannot be read")
	case encoding != "":
		return holding
	case kind == events || kind == lines:
		w.records = newRecords(kind, w.report, w.handler.fields, w.strict)
		return recording
	case w.strict:
		return holding
	}
	return gathering
}

// refuse answers with a problem in place of the response.
func (w *writer) refuse(code, reason string) mode {
	w.handler.logger.Error("response refused because it cannot be scanned", zap.String("reason", reason))
	w.instead(problem.Problem{Status: http.StatusBadGateway, Code: code, Detail: "The response cannot be scanned: " + reason + "."})
	return ended
}

// instead sends a problem in place of the response, of whose header nothing but what is not its
// own stays.
func (w *writer) instead(p problem.Problem) {
	h := w.Header()
	for name := range h {
		if !keptOnRefusal(name) {
			delete(h, name)
		}
	}
	problem.Write(w.ResponseWriter, w.request, p)
}

// Write scans p, or keeps it for later, and passes on what may pass.
func (w *writer) Write(p []byte) (int, error) {
	if w.mode == undecided {
		w.WriteHeader(http.StatusOK)
	}
	switch w.mode {
	case passing:
		return w.ResponseWriter.Write(p)
	case recording:
		return len(p), w.record(p)
	case gathering:
		w.gather(p)
		return w.ResponseWriter.Write(p)
	case holding:
		return len(p), w.hold(p)
	case windowing:
		return len(p), w.slide(p)
	}
	return 0, errEnded
}

// gather keeps a copy of what passes, and scans it in windows when it gets long.
func (w *writer) gather(p []byte) {
	if w.windows == nil && int64(len(w.buf)+len(p)) <= w.handler.MaxScan {
		w.buf = append(w.buf, p...)
		return
	}
	if w.windows == nil {
		w.windows = &windows{decode: decoderFor(w.Header()), report: w.report}
		p, w.buf = append(w.buf, p...), nil
	}
	for len(p) > 0 {
		n := copy(w.windows.room(), p)
		w.windows.scan(n)
		p = p[n:]
	}
}

// hold keeps p until all was scanned. More than max_scan goes on in windows.
func (w *writer) hold(p []byte) error {
	if int64(len(w.buf)+len(p)) <= w.handler.MaxScan {
		w.buf = append(w.buf, p...)
		return nil
	}
	if w.handler.Beyond == beyondRefuse || coding(w.Header()) != "" {
		w.mode = w.refuse("upstream_unscanned", "it is longer than what is scanned here (option max_scan of svc_scan)")
		return errEnded
	}
	w.windows = &windows{decode: decoderFor(w.Header()), report: w.report}
	held := append(w.buf, p...)
	w.mode, w.buf = windowing, nil
	return w.slide(held)
}

// slide scans p window by window. The header goes out with the first one that may pass.
func (w *writer) slide(p []byte) error {
	w.buf = append(w.buf, p...)
	for len(w.buf) >= window {
		n := copy(w.windows.room(), w.buf)
		rest := append([]byte(nil), w.buf[n:]...)
		if err := w.release(w.windows.scan(n)); err != nil {
			return err
		}
		w.buf = rest
	}
	return nil
}

// release writes what was scanned, or ends the response.
func (w *writer) release(p []byte) error {
	if err := w.report.blocked(); err != nil {
		return w.block(err)
	}
	if w.status > 0 {
		w.report.annotate(w.Header())
		w.ResponseWriter.WriteHeader(w.status)
		w.status = 0
	}
	_, err := w.ResponseWriter.Write(p)
	return err
}

// block ends the response: with a problem if nothing was sent, else by breaking it off.
func (w *writer) block(err error) error {
	var b *blockedError
	begun := w.mode == windowing && w.status == 0
	w.mode = ended
	if begun || !errors.As(err, &b) {
		w.torn = true
		return errEnded
	}
	w.instead(b.problem())
	return errEnded
}

// record scans what p completes and passes it on; after a finding that is to be blocked the
// stream ends with an error event.
func (w *writer) record(p []byte) error {
	defer w.report.publish(w.request)
	if !w.strict {
		w.records.take(p)
		_, err := w.ResponseWriter.Write(p)
		return err
	}
	out, err := w.records.pass(p)
	if len(out) > 0 {
		if _, err := w.ResponseWriter.Write(out); err != nil {
			return err
		}
	}
	if err == nil {
		return nil
	}
	w.mode = ended
	if _, err := w.ResponseWriter.Write(w.records.farewell(err)); err == nil {
		_ = http.NewResponseController(w.ResponseWriter).Flush() // there is nothing to do about a client that is gone
	}
	return errEnded
}

// close scans what is left and sends what was held.
func (w *writer) close() error {
	switch w.mode {
	case recording:
		return w.closeRecords()
	case gathering:
		if w.windows == nil {
			w.report.addBody(w.buf, w.handler.fields, decoderFor(w.Header()))
		}
	case windowing:
		n := copy(w.windows.room(), w.buf)
		rest := w.buf[n:]
		if err := w.release(w.windows.scan(n)); err != nil || len(rest) == 0 {
			return err
		}
		n = copy(w.windows.room(), rest)
		return w.release(w.windows.scan(n))
	case holding:
		return w.closeHeld()
	}
	return nil
}

func (w *writer) closeRecords() error {
	rest, err := w.records.end()
	if err != nil {
		w.mode = ended
		rest = append(rest, w.records.farewell(err)...)
	}
	if w.strict && len(rest) > 0 {
		_, err = w.ResponseWriter.Write(rest)
		return err
	}
	return nil
}

func (w *writer) closeHeld() error {
	body := w.buf
	if encoding := coding(w.Header()); encoding != "" && len(body) > 0 {
		plain, err := decompress(body, encoding, w.handler.MaxScan)
		if err != nil {
			w.mode = w.refuse("upstream_encoded", "what the upstream compressed cannot be decoded")
			return nil
		}
		body = plain
	}
	w.report.addBody(body, w.handler.fields, decoderFor(w.Header()))
	if err := w.release(w.buf); err != nil && !errors.Is(err, errEnded) {
		return err
	}
	return nil
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

// FlushError flushes what may pass.
func (w *writer) FlushError() error {
	if w.mode == undecided {
		w.WriteHeader(http.StatusOK)
	}
	if w.mode == holding || w.mode == windowing && w.status > 0 {
		return nil
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Hijack is refused where something may be blocked: nothing would be scanned any more.
func (w *writer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	if w.strict {
		return nil, nil, http.ErrNotSupported
	}
	w.mode = passing
	w.handler.logger.Warn("connection passes unscanned because its protocol was changed", zap.String("path", w.request.URL.Path))
	return http.NewResponseController(w.ResponseWriter).Hijack()
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

var _ io.ReaderFrom = (*writer)(nil)
