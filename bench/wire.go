package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// The least of HTTP/1.1 (RFC 9112) that both ends of the benchmark need. net/http would cost more
// than what is measured, and nothing here allocates.

var errWire = errors.New("not the HTTP that was expected")

// fields are the header fields that matter here.
type fields struct {
	length  int // -1: not given
	chunked bool
	last    bool // Connection: close
}

// readLine returns a line without its end, valid until the next read.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	return bytes.TrimRight(line, "\r\n"), nil
}

var (
	contentLength    = []byte("Content-Length")
	transferEncoding = []byte("Transfer-Encoding")
	connection       = []byte("Connection")
	chunkedCoding    = []byte("chunked")
	closeOption      = []byte("close")
)

// readFields reads what follows a start line, the empty line included.
func readFields(r *bufio.Reader) (fields, error) {
	f := fields{length: -1}
	for {
		line, err := readLine(r)
		if err != nil {
			return f, err
		}
		if len(line) == 0 {
			return f, nil
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			return f, fmt.Errorf("%w: header line %q", errWire, line)
		}
		value = bytes.TrimSpace(value)
		switch {
		case bytes.EqualFold(name, contentLength):
			if f.length, err = parseInt(value, 10); err != nil {
				return f, err
			}
		case bytes.EqualFold(name, transferEncoding):
			f.chunked = bytes.EqualFold(value, chunkedCoding)
		case bytes.EqualFold(name, connection):
			f.last = bytes.EqualFold(value, closeOption)
		}
	}
}

// readBody gives the body in pieces as they come, valid during the call.
func readBody(r *bufio.Reader, f fields, piece func([]byte) error) error {
	if !f.chunked {
		return readPieces(r, max(0, f.length), piece)
	}
	for {
		line, err := readLine(r)
		if err != nil {
			return err
		}
		n, err := parseInt(line, 16)
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		if err := readPieces(r, n, piece); err != nil {
			return err
		}
		if line, err = readLine(r); err != nil {
			return err
		}
		if len(line) > 0 {
			return fmt.Errorf("%w: %q after a chunk", errWire, line)
		}
	}
	for { // trailers
		line, err := readLine(r)
		if err != nil || len(line) == 0 {
			return err
		}
	}
}

func readPieces(r *bufio.Reader, n int, piece func([]byte) error) error {
	for n > 0 {
		if _, err := r.Peek(1); err != nil {
			return unexpected(err)
		}
		b, err := r.Peek(min(n, r.Buffered()))
		if err != nil {
			return unexpected(err)
		}
		if err := piece(b); err != nil {
			return err
		}
		if _, err := r.Discard(len(b)); err != nil {
			return err
		}
		n -= len(b)
	}
	return nil
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func parseInt(digits []byte, base int) (int, error) {
	n, err := strconv.ParseInt(string(digits), base, 32) // the compiler keeps this conversion off the heap
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%w: length %q", errWire, digits)
	}
	return int(n), nil
}
