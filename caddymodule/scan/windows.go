package scan

// windows scans a long body piece by piece, each with the end of the one before.
type windows struct {
	decode func(string) string
	report *report
	buf    []byte
	kept   int // bytes of buf that were scanned before
	taken  int // bytes behind them that write has taken and that wait
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
	all := w.buf[:w.kept+n]
	w.report.scanText(w.decode(string(all)))
	fresh := append([]byte(nil), all[w.kept:]...)
	w.kept = copy(w.buf, all[max(0, len(all)-overlap):])
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
