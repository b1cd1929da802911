package syslog

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// The bounds of a message.
const (
	maxMessage = 64 << 10 // bytes that are kept of it
	maxLength  = 1 << 20  // in front of it: whoever gets digits into a line of a stream hides what follows
	maxDigits  = 7        // of the length
)

// errFraming says that a stream cannot be cut into messages any more.
var errFraming = errors.New("the stream cannot be cut into messages")

// frames cuts a stream into messages (RFC 6587): each has its length in front, "34 <13>…", or ends with
// a line feed or NUL. Both may come in one stream.
type frames struct {
	r   *bufio.Reader
	buf []byte
}

func newFrames(r io.Reader) *frames { return &frames{r: bufio.NewReaderSize(r, 16<<10)} }

// next returns the next message and whether there was more of it than is kept. It is valid until the next
// call. The error is [io.EOF] at the end of a stream whose last message is whole.
func (f *frames) next() (message []byte, truncated bool, err error) {
	for {
		first, err := f.r.ReadByte()
		if err != nil {
			return nil, false, err
		}
		switch {
		case first == '\n' || first == '\r' || first == 0: // between messages
			continue
		case first >= '1' && first <= '9':
			return f.counted(first)
		}
		if err := f.r.UnreadByte(); err != nil {
			return nil, false, err
		}
		return f.line()
	}
}

// counted reads a message with its length in front, whose first digit was read.
func (f *frames) counted(first byte) (message []byte, truncated bool, err error) {
	digits := []byte{first}
	for {
		b, err := f.r.ReadByte()
		if err != nil {
			return nil, false, early(err)
		}
		if b == ' ' {
			break
		}
		if b < '0' || b > '9' || len(digits) == maxDigits {
			return nil, false, fmt.Errorf("%w: after %q comes %q, want a length of at most %d digits and a space, or a message that begins with <", errFraming, digits, b, maxDigits)
		}
		digits = append(digits, b)
	}
	length, err := strconv.Atoi(string(digits))
	if err != nil {
		return nil, false, fmt.Errorf("%w: %w", errFraming, err)
	}
	if length > maxLength {
		return nil, false, fmt.Errorf("%w: a message of %d bytes, of %d at most", errFraming, length, maxLength)
	}
	keep := min(length, maxMessage)
	f.buf = append(f.buf[:0], make([]byte, keep)...)
	if _, err := io.ReadFull(f.r, f.buf); err != nil {
		return nil, false, early(err)
	}
	if _, err := f.r.Discard(length - keep); err != nil {
		return nil, false, early(err)
	}
	return f.buf, length > keep, nil
}

// line reads a message up to a line feed or NUL. One that the stream ends in is whole.
func (f *frames) line() (message []byte, truncated bool, err error) {
	f.buf = f.buf[:0]
	for {
		b, err := f.r.ReadByte()
		switch {
		case errors.Is(err, io.EOF) && len(f.buf) > 0, err == nil && (b == '\n' || b == 0):
			return f.buf, truncated, nil
		case err != nil:
			return nil, false, err
		case len(f.buf) == maxMessage:
			truncated = true
		default:
			f.buf = append(f.buf, b)
		}
	}
}

// early is the error of a stream that ends inside of a message.
func early(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
