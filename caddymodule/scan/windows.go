package scan

// windows scans a long body piece by piece, each with the end of the one before.
type windows struct {
	decode func(string) string
	report *report
	buf    []byte
	kept   int // bytes of buf that were scanned before
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
