package scan

import (
	"bytes"
	"io"
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

const (
	// window is how much of a long body is scanned at once.
	window = 64 << 10
	// overlap is how much of a window the next one repeats. A finding longer than this may
	// be missed where two windows meet; the scanner's patterns are far shorter.
	overlap = 4 << 10
)

// body is a request body that was read, or begun, by the scanner.
type body struct {
	io.Reader
	io.Closer
}

// scanBody replaces the request's body with one that reads the same. A short one is scanned
// when scanBody returns; for a long one it returns the tap that scans it as it is read.
func (h *Handler) scanBody(r *http.Request, rep *report) (*tap, error) {
	orig := r.Body
	if coding(r.Header) != "" {
		r.Body = &tap{ReadCloser: orig, left: h.MaxBody, limit: h.MaxBody}
		return nil, nil
	}
	if r.ContentLength > h.MaxScan {
		t := &tap{ReadCloser: orig, left: h.MaxBody, limit: h.MaxBody, decode: decoderFor(r), report: rep}
		r.Body = t
		return t, nil
	}
	head, err := readHead(orig, r.ContentLength, h.MaxScan)
	if err != nil {
		return nil, &bodyError{err: err, limit: h.MaxBody}
	}
	if int64(len(head)) <= h.MaxScan {
		rep.addText(head, decoderFor(r))
		r.Body = body{bytes.NewReader(head), orig}
		return nil, nil
	}
	t := &tap{
		ReadCloser: body{io.MultiReader(bytes.NewReader(head), orig), orig},
		left:       h.MaxBody, limit: h.MaxBody, decode: decoderFor(r), report: rep,
	}
	r.Body = t
	return t, nil
}

// readHead reads the whole body if it has at most limit bytes, else one byte more than that.
func readHead(from io.Reader, length, limit int64) ([]byte, error) {
	if length < 0 {
		return io.ReadAll(io.LimitReader(from, limit+1))
	}
	head := make([]byte, length)
	_, err := io.ReadFull(from, head)
	return head, err
}

// tap is a body that is scanned while it is read, and cut at its limit.
type tap struct {
	io.ReadCloser
	left, limit int64
	decode      func(string) string
	report      *report // nil: only the limit matters
	buf         []byte
	fresh       int // bytes of buf that were not scanned yet
}

// Read reads on. Beyond the limit it fails with an error that carries the status 413.
func (t *tap) Read(p []byte) (int, error) {
	if t.left < 0 {
		return 0, t.over()
	}
	if int64(len(p)) > t.left+1 {
		p = p[:t.left+1]
	}
	n, err := t.ReadCloser.Read(p)
	t.left -= int64(n)
	if t.left < 0 {
		return 0, t.over()
	}
	t.see(p[:n])
	return n, err
}

func (t *tap) over() error {
	return caddyhttp.Error(http.StatusRequestEntityTooLarge, &bodyError{err: errTooLarge, limit: t.limit})
}

func (t *tap) see(p []byte) {
	if t.report == nil {
		return
	}
	if t.buf == nil {
		t.buf = make([]byte, 0, window)
	}
	for len(p) > 0 {
		n := copy(t.buf[len(t.buf):cap(t.buf)], p)
		t.buf, p, t.fresh = t.buf[:len(t.buf)+n], p[n:], t.fresh+n
		if len(t.buf) == cap(t.buf) {
			t.scan()
		}
	}
}

func (t *tap) scan() {
	t.report.add(t.decode(string(t.buf)))
	t.buf = t.buf[:copy(t.buf, t.buf[len(t.buf)-overlap:])]
	t.fresh = 0
}

// finish scans what was read and has not filled a window.
func (t *tap) finish() {
	if t.fresh > 0 {
		t.report.add(t.decode(string(t.buf)))
		t.fresh = 0
	}
}
