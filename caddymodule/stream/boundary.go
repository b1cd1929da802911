package stream

// tail remembers the last three bytes of a stream, which is enough to know whether a new event
// could begin here.
type tail [3]byte

// newTail is the tail of a stream of which nothing was written: an event may begin.
func newTail() tail { return tail{'\n', '\n', '\n'} }

func (t *tail) note(p []byte) {
	if len(p) >= len(t) {
		copy(t[:], p[len(p)-len(t):])
		return
	}
	copy(t[:], t[len(p):])
	copy(t[len(t)-len(p):], p)
}

// boundary reports whether the stream ends with an empty line. Lines end with LF, CR LF or CR
// (HTML Living Standard 9.2.5). After CR LF CR nobody knows whether a LF belongs to it: no.
func (t *tail) boundary() bool {
	switch {
	case t[1] == '\n' && t[2] == '\n', t[1] == '\r' && t[2] == '\r':
		return true
	case t[1] == '\r' && t[2] == '\n':
		return t[0] == '\n' || t[0] == '\r'
	}
	return false
}
