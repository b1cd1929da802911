package scan

import (
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/svc-gateway/svc/internal/media"
)

// tap is a body that is scanned before it is read on, a piece at a time, and cut at its limit.
type tap struct {
	io.ReadCloser
	left, limit int64 // negative left: beyond the limit
	endless     bool  // a stream that the other side ends
	report      *report
	next        func() ([]byte, error) // reads and scans a piece; nil: only the limit matters
	ready       []byte                 // scanned and not read yet
	err         error                  // after that
}

// newTap makes a tap without a scanner.
func newTap(from io.ReadCloser, limit int64, rep *report) *tap {
	return &tap{ReadCloser: from, left: limit, limit: limit, report: rep}
}

// Read reads on. Beyond the limit it fails with an error that carries the status 413, at a
// finding that is to be blocked with one that carries 422.
func (t *tap) Read(p []byte) (int, error) {
	if t.next == nil {
		return t.limited(p)
	}
	for len(t.ready) == 0 && t.err == nil && len(p) > 0 {
		t.ready, t.err = t.next()
		if blocked := t.report.blocked(); blocked != nil {
			t.ready, t.err = nil, caddyhttp.Error(problemOf(blocked).Status, blocked)
			t.drain()
		}
	}
	n := copy(p, t.ready)
	t.ready = t.ready[n:]
	if n == 0 && len(p) > 0 {
		return 0, t.err
	}
	return n, nil
}

// maxDrain is how much of a body that is refused is still read.
const maxDrain = 16 << 20

// drain reads what the client still sends: many clients listen only when they have sent everything, and
// take a connection that is closed before for a failure of the network.
func (t *tap) drain() {
	if !t.endless {
		_, _ = io.CopyN(io.Discard, t.ReadCloser, min(t.left, maxDrain)) // what is refused need not be whole
	}
}

// inWindows reads the next window.
func (t *tap) inWindows(w *windows) func() ([]byte, error) {
	return func() ([]byte, error) {
		fresh, n := w.room(), 0
		var err error
		for n < len(fresh) && err == nil {
			var m int
			m, err = t.limited(fresh[n:])
			n += m
		}
		return w.scan(n), err
	}
}

// inRecords reads on and gives the lines that are complete.
func (t *tap) inRecords(r *records) func() ([]byte, error) {
	buf := make([]byte, window/2)
	return func() ([]byte, error) {
		n, err := t.limited(buf)
		defer t.report.end(t.report.begin(n))
		ready, blocked := r.sift(buf[:n])
		if blocked != nil || !errors.Is(err, io.EOF) {
			return ready, err
		}
		rest, _ := r.rest() // what is to be blocked is asked for in any case
		return append(ready, rest...), err
	}
}

// frames scans what comes of gRPC, whose streams have no end and no limit, as it comes.
type frames struct {
	report *report
	begun  bool
	last   []byte // the end of what was scanned
}

// kept is how much of the frames before is scanned together with the next ones.
const kept = 1 << 10

// isFrames reports whether the body says that it is frames as they are.
func isFrames(b media.Body) bool {
	return b.Kind == media.GRPC && !strings.Contains(b.Type, "-text")
}

// scan scans what comes next.
func (f *frames) scan(p []byte) {
	if len(p) == 0 {
		return
	}
	defer f.report.end(f.report.begin(len(p)))
	if !f.begun && p[0]&^0x81 != 0 { // a frame is compressed or not, or the trailer
		f.report.fail(errFrames)
		return
	}
	f.begun = true
	f.report.inquiry = nil // of bytes without a form a classifier would be asked again and again
	f.last = append(f.last, p...)
	f.report.shallow = 0 // each piece is small
	f.report.scanBinary(f.last)
	f.last = append(f.last[:0], f.last[max(0, len(f.last)-kept):]...)
}

// inFrames reads on as far as something has come.
func (t *tap) inFrames() func() ([]byte, error) {
	f := &frames{report: t.report}
	buf := make([]byte, window/2)
	return func() ([]byte, error) {
		n, err := t.ReadCloser.Read(buf)
		f.scan(buf[:n])
		return buf[:n], err
	}
}

// limited reads from below, up to the limit.
func (t *tap) limited(p []byte) (int, error) {
	if t.left < 0 {
		return 0, t.over()
	}
	if int64(len(p)) > t.left+1 {
		p = p[:t.left+1]
	}
	n, err := t.ReadCloser.Read(p)
	if t.left -= int64(n); t.left < 0 {
		return 0, t.over()
	}
	return n, err
}

func (t *tap) over() error {
	return caddyhttp.Error(http.StatusRequestEntityTooLarge, &bodyError{err: errTooLarge, limit: t.limit})
}
