package tools

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/svc-gateway/svc/scanner/redact"
)

// mostRead is how much of a file is read.
const mostRead = 64 << 20

// errTooLong says that a file was read as far as files are.
var errTooLong = fmt.Errorf("only its first %d MiB can be read, because secrets are redacted from the beginning on", mostRead>>20)

// redacted reads a file from its beginning with its secrets redacted. Whoever shows a part
// of a file cuts it from this stream: a secret that was cut from the word before it, or
// from the first line of its key, could not be told from other text any more.
type redacted struct {
	ctx  context.Context
	src  io.Reader
	left int // bytes that may still be read
	r    *redact.TextStream
	in   []byte
	out  []byte // buffer of what is redacted
	next []byte // the part of out that is to be read yet
	err  error  // after next
}

// newRedacted returns the redacted text of src, of which no more than most bytes are read.
// Reading ends with the context.
func newRedacted(ctx context.Context, src io.Reader, most int) *redacted {
	return &redacted{ctx: ctx, src: src, left: most, r: redact.NewTextStream(), in: make([]byte, 32<<10)}
}

// Read implements io.Reader.
func (r *redacted) Read(p []byte) (int, error) {
	for len(r.next) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		r.fill()
	}
	n := copy(p, r.next)
	r.next = r.next[n:]
	return n, nil
}

// fill takes the next piece of the file.
func (r *redacted) fill() {
	if r.err = r.ctx.Err(); r.err != nil {
		return
	}
	n, err := r.src.Read(r.in)
	if n > r.left {
		n, err = r.left, errTooLong
	}
	r.left -= n
	r.out = r.r.Append(r.out[:0], r.in[:n])
	if errors.Is(err, io.EOF) {
		r.out = r.r.Close(r.out)
	}
	r.next, r.err = r.out, err
}
