package scan

import (
	"bufio"
	"errors"
	"net"
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/internal/media"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/internal/respond"
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
	flowing               // frames of gRPC, scanned as they come
	ended                 // refused, or ended after a finding
)

// writer scans one response.
type writer struct {
	respond.Writer
	handler *Handler
	request *http.Request
	report  *report
	media   media.Body
	head    media.Head
	mode    mode
	status  int  // of a header that waits; 0: it is out
	torn    bool // ended in the middle: the client must see that it is not whole
	strict  bool // something may be blocked or annotated: nothing passes before it was scanned
	buf     []byte
	windows *windows
	records *records
	frames  *frames
	looked  bool // whether it is in lines is known
}

// respond calls the next handler with a writer that scans.
func (h *Handler) respond(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler, a *asker) (err error) {
	if h.Encoded != encodedPass {
		r.Header["Accept-Encoding"] = []string{"identity"}
	}
	rw := &writer{handler: h, request: r, report: h.newReport(r, response, a), strict: h.strict()}
	rw.Writer = respond.New(w, rw)
	defer func() {
		if rw.mode == ended { // the client has its answer
			respond.Forgive(recover())
			err = nil
		}
		rw.scanSent()
		rw.report.publish(r)
		rw.report.close()
		if rw.torn {
			panic(http.ErrAbortHandler)
		}
	}()
	if err = next.ServeHTTP(rw, r); err == nil {
		err = rw.close()
	}
	return err
}

// Begin decides what becomes of the response.
func (w *writer) Begin(code int) {
	mode := w.decide(code)
	if mode == holding {
		w.status = code
	}
	if w.mode = mode; mode != holding && mode != ended {
		w.ResponseWriter.WriteHeader(code)
	}
}

// decide tells by its header what becomes of a response; one that cannot be scanned is refused.
func (w *writer) decide(code int) mode {
	w.media = media.Of(w.Header())
	kind, encoding := w.media.Kind, w.media.Coding
	switch {
	case code == http.StatusSwitchingProtocols, code == http.StatusNoContent, code == http.StatusNotModified,
		w.request.Method == http.MethodHead, (kind == media.Binary || kind == media.GRPC) && !w.media.Ambiguous, !w.handler.choosesType(response, w.media):
		return passing
	case encoding != "" && w.handler.Encoded == encodedPass:
		w.handler.warnUnscanned(w.request, response, encoding)
		return passing
	case encoding != "" && w.handler.Encoded == encodedRefuse:
		return w.refuse("upstream_encoded", "the upstream compressed its response though it was asked not to")
	case !w.media.Readable():
		return w.refuse("upstream_charset", "the upstream's Content-Type is ambiguous or names a character set that cannot be read")
	case encoding != "":
		return holding
	case isFrames(w.media) && w.handler.Binary == binaryPass:
		return passing
	case isFrames(w.media):
		w.frames = &frames{report: w.report}
		return flowing
	case kind == media.Events || kind == media.JSONLines || kind == media.JSONSequence:
		w.records = newRecords(kind, w.report, w.handler.fields, w.strict)
		return recording
	case w.strict:
		return holding
	}
	return gathering
}

// refuse answers with a problem in place of the response. One whose header is out is broken off.
func (w *writer) refuse(code, reason string) mode {
	w.handler.logger.Error("response refused because it cannot be scanned", zap.String("reason", reason))
	if w.sent() {
		w.torn = true
	} else {
		w.answer(unscannable(code, reason))
	}
	return ended
}

// answer answers with a problem in place of the response.
func (w *writer) answer(p problem.Problem) {
	w.Instead(func(out http.ResponseWriter) { w.report.asker.refuse(out, w.request, p) })
}

// sent reports whether the header is out.
func (w *writer) sent() bool { return w.mode != undecided && w.status == 0 }

// Passes reports whether the body is left alone.
func (w *writer) Passes() bool { return w.mode == passing }

// Body scans p, or keeps it for later, and passes on what may pass. It reports p as taken as a whole.
func (w *writer) Body(p []byte) (n int, err error) {
	switch {
	case w.mode == ended:
		err = errEnded
	case w.mode == flowing:
		err = w.flow(p)
	case w.head.Told || w.media.Coding != "": // compressed bytes would tell nothing
		err = w.scan(p)
	case w.head.Add(p, w.media.Kind):
		err = w.begin(w.head.Bytes())
	}
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// begin scans the first bytes of a body, by which it is refused if it cannot be scanned.
func (w *writer) begin(p []byte) error {
	if err := w.handler.suits(w.head.Start, w.media, w.request, response); err != nil {
		w.refuseFor(err)
		return errEnded
	}
	return w.scan(p)
}

// refuseFor refuses a response that turned out to be unreadable.
func (w *writer) refuseFor(err error) { w.mode = w.refuse(whyUnreadable(err)) }

// scan scans the next piece of a body that can be.
func (w *writer) scan(p []byte) error {
	switch w.mode {
	case recording:
		return w.record(p)
	case gathering:
		if err := w.gather(p); err != nil {
			return err
		}
		_, err := w.ResponseWriter.Write(p)
		return err
	case holding:
		return w.hold(p)
	case windowing:
		return w.windows.write(p, w.release)
	}
	return errEnded
}

// FlushError flushes what may pass.
func (w *writer) FlushError() error {
	w.Imply()
	if w.status > 0 {
		return nil
	}
	return w.Writer.FlushError()
}

// Hijack gives the connection away: a tunnel is in front, which has a say.
func (w *writer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := w.Tunnel()
	if err == nil {
		w.mode = passing
	}
	return conn, rw, err
}
