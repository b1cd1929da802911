package scan

import "github.com/svc-gateway/svc/internal/media"

// windows scans a long body piece by piece, each with the end of the one before.
type windows struct {
	kind   media.Kind
	parts  *parts // nil: it has none
	report *report
	buf    []byte
	kept   int // bytes of buf that were scanned before
	taken  int // bytes behind them that write has taken and that wait
}

// newWindows makes the windows of a body.
func newWindows(rep *report, b media.Body, ps *parts) *windows {
	return &windows{kind: b.Kind, parts: ps, report: rep}
}

// room returns where the next bytes of the body belong.
func (w *windows) room() []byte {
	if w.buf == nil {
		w.buf = make([]byte, window)
	}
	return w.buf[w.kept:]
}

// scan scans the first n bytes of room and returns them, valid until the next call of room.
func (w *windows) scan(n int) []byte {
	if n == 0 {
		return nil
	}
	defer w.report.end(w.report.begin(n))
	all := w.buf[:w.kept+n]
	from := max(0, len(all)-overlap)
	if w.parts == nil {
		w.report.scanPiece(all, w.kind)
	} else {
		from = w.parts.scan(all, overlap, w.report.scanPiece, w.report.fail)
	}
	fresh := append([]byte(nil), all[w.kept:]...)
	w.kept = copy(w.buf, all[from:])
	return fresh
}

// write takes the next bytes of the body and scans what they complete. pass gets each window.
func (w *windows) write(p []byte, pass func(window []byte) error) error {
	for len(p) > 0 {
		room := w.room()
		n := copy(room[w.taken:], p)
		if p, w.taken = p[n:], w.taken+n; w.taken < len(room) {
			break
		}
		if err := w.close(pass); err != nil {
			return err
		}
	}
	return nil
}

// close scans what waits.
func (w *windows) close(pass func(window []byte) error) error {
	n := w.taken
	w.taken = 0
	return pass(w.scan(n))
}
