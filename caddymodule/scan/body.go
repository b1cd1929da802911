package scan

import (
	"bytes"
	"io"
	"net/http"

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

// scanRequest replaces the request's body with one that reads the same. A short one is scanned
// when scanRequest returns; for a long one it returns the tap that scans it as it is read.
func (h *Handler) scanRequest(r *http.Request, b media.Body, rep *report) (*tap, error) {
	orig := r.Body
	switch {
	case b.Coding != "" && h.Encoded == encodedPass:
		r.Body = newTap(orig, h.MaxBody, rep)
		return nil, nil
	case isFrames(b) && b.Coding == "":
		t := newTap(orig, h.MaxBody, rep)
		t.endless, t.next = true, t.inFrames()
		r.Body = t
		return t, nil
	}
	tooLong := &bodyError{err: errUnscanned, limit: h.MaxScan}
	whole := h.Beyond == beyondRefuse || b.Coding != "" // or not at all
	length, long := r.ContentLength, r.ContentLength > h.MaxScan
	if long {
		if whole {
			return nil, tooLong
		}
		length = min(length, window)
	}
	head, err := readHead(orig, length, max(h.MaxScan, media.Enough))
	if err != nil {
		return nil, &bodyError{err: err, limit: h.MaxBody}
	}
	if !long && int64(len(head)) <= h.MaxScan {
		r.Body = body{bytes.NewReader(head), orig}
		return nil, h.scanWhole(b, r.Header, rep, head)
	}
	if whole {
		return nil, tooLong
	}
	start, _ := media.Sniff(head, b.Kind)
	if err := h.suits(start, b, r, request); err != nil {
		return nil, &bodyError{err: err, limit: h.MaxScan}
	}
	t := newTap(body{io.MultiReader(bytes.NewReader(head), orig), orig}, h.MaxBody, rep)
	if inLines(head, b.Kind) {
		t.next = t.inRecords(newRecords(lineKind(b.Kind), rep, h.fields, true))
	} else {
		t.next = t.inWindows(newWindows(rep, b, h.partsOf(b, r.Header)))
	}
	r.Body = t
	return t, nil
}

// partsOf returns the parts of a multipart body.
func (*Handler) partsOf(b media.Body, header http.Header) *parts {
	if b.Kind != media.Multipart || b.Ambiguous {
		return nil
	}
	return partsOf(header)
}

// scanWhole scans a body that was read as a whole.
func (h *Handler) scanWhole(b media.Body, header http.Header, rep *report, p []byte) error {
	if b.Coding != "" {
		plain, err := decompress(p, b.Coding, h.MaxScan)
		if err != nil {
			return &bodyError{err: err, limit: h.MaxScan}
		}
		p = plain
	}
	start, _ := media.Sniff(p, b.Kind)
	if err := h.suits(start, b, rep.request, rep.side); err != nil {
		return &bodyError{err: err, limit: h.MaxScan}
	}
	h.scanContent(b, header, rep, p)
	return nil
}

// scanContent scans all of a body that can be read.
func (h *Handler) scanContent(b media.Body, header http.Header, rep *report, p []byte) {
	if rep.side == request {
		rep.asker.learn(p)
	}
	if ps := h.partsOf(b, header); ps != nil {
		defer rep.end(rep.begin(len(p)))
		ps.scan(p, 0, func(piece []byte, k media.Kind) { rep.scanDocument(piece, &everything, k) }, rep.fail)
		return
	}
	rep.scanBody(p, h.fields, b.Kind)
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
