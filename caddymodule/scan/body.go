package scan

import (
	"bytes"
	"io"
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/svc-gateway/svc/internal/media"
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
func (h *Handler) scanBody(r *http.Request, b media.Body, rep *report) (*tap, error) {
	orig := r.Body
	if b.Coding != "" && h.Encoded == encodedPass {
		r.Body = &tap{ReadCloser: orig, left: h.MaxBody, limit: h.MaxBody}
		return nil, nil
	}
	tooLong := &bodyError{err: errUnscanned, limit: h.MaxScan}
	whole := h.Beyond == beyondRefuse || b.Coding != "" // or not at all
	length, long := r.ContentLength, r.ContentLength > h.MaxScan
	if long {
		if whole {
			return nil, tooLong
		}
		length = min(length, media.Enough)
	}
	head, err := readHead(orig, length, max(h.MaxScan, media.Enough))
	if err != nil {
		return nil, &bodyError{err: err, limit: h.MaxBody}
	}
	if !long && int64(len(head)) <= h.MaxScan {
		r.Body = body{bytes.NewReader(head), orig}
		return nil, h.scanWhole(r, b, rep, head)
	}
	if whole {
		return nil, tooLong
	}
	start, _ := media.Sniff(head, b.Kind)
	if err := h.suits(start, b, r, request); err != nil {
		return nil, &bodyError{err: err, limit: h.MaxScan}
	}
	t := &tap{
		ReadCloser: body{io.MultiReader(bytes.NewReader(head), orig), orig},
		left:       h.MaxBody, limit: h.MaxBody, windows: &windows{decode: decoderOf(b.Kind), report: rep},
	}
	r.Body = t
	return t, nil
}

// scanWhole scans a body that was read as a whole.
func (h *Handler) scanWhole(r *http.Request, b media.Body, rep *report, p []byte) error {
	if b.Coding != "" {
		plain, err := decompress(p, b.Coding, h.MaxScan)
		if err != nil {
			return &bodyError{err: err, limit: h.MaxScan}
		}
		p = plain
	}
	start, _ := media.Sniff(p, b.Kind)
	if err := h.suits(start, b, r, rep.side); err != nil {
		return &bodyError{err: err, limit: h.MaxScan}
	}
	rep.scanBody(p, h.fields, decoderOf(b.Kind))
	return nil
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

// tap is a body that is scanned before it is read on, a window at a time, and cut at its limit.
type tap struct {
	io.ReadCloser
	left, limit int64
	windows     *windows // nil: only the limit matters
	ready       []byte   // scanned and not read yet
	err         error    // after that
}

// Read reads on. Beyond the limit it fails with an error that carries the status 413, at a
// finding that is to be blocked with one that carries 422.
func (t *tap) Read(p []byte) (int, error) {
	if t.windows == nil {
		return t.limited(p)
	}
	if len(t.ready) == 0 && t.err == nil {
		t.err = t.fill()
	}
	n := copy(p, t.ready)
	t.ready = t.ready[n:]
	if n == 0 && len(p) > 0 {
		return 0, t.err
	}
	return n, nil
}

// fill reads and scans the next window.
func (t *tap) fill() error {
	fresh, err := t.windows.room(), error(nil)
	n := 0
	for n < len(fresh) && err == nil {
		var m int
		m, err = t.limited(fresh[n:])
		n += m
	}
	t.ready = t.windows.scan(n)
	if blocked := t.windows.report.blocked(); blocked != nil {
		t.ready = nil
		return caddyhttp.Error(http.StatusUnprocessableEntity, blocked)
	}
	return err
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
