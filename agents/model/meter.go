package model

import (
	"bytes"
	"io"
)

// meter reads a body up to a limit and notices the end-of-stream mark, which the
// stream's decoder swallows.
type meter struct {
	io.ReadCloser
	left, n    int
	tail       []byte
	done, over bool
	err        error // why reading ended, when not with io.EOF
}

// The mark stands on a line of its own: inside a JSON string there is no line break.
var doneMarks = [][]byte{[]byte("\ndata: [DONE]"), []byte("\ndata:[DONE]")}

// Read implements io.Reader.
func (m *meter) Read(p []byte) (int, error) {
	if m.left <= 0 {
		m.over = true
		return 0, io.EOF
	}
	n, err := m.ReadCloser.Read(p[:min(len(p), m.left)])
	m.left, m.n = m.left-n, m.n+n
	if !m.done && n > 0 {
		m.tail = append(m.tail, p[:n]...)
		m.done = bytes.Contains(m.tail, doneMarks[0]) || bytes.Contains(m.tail, doneMarks[1])
		m.tail = append(m.tail[:0], m.tail[max(0, len(m.tail)-len(doneMarks[0])):]...)
	}
	if err != nil && err != io.EOF {
		m.err = err
	}
	return n, err
}
