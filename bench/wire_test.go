package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestReadBody(t *testing.T) {
	for name, c := range map[string]struct {
		message string // from the header fields on
		want    string
		err     error
	}{
		"length":       {"Content-Length: 5\r\n\r\nhello", "hello", nil},
		"none":         {"Content-Type: text/plain\r\n\r\nnext", "", nil},
		"chunks":       {"transfer-encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n", "hello", nil},
		"trailer":      {"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: y\r\n\r\n", "hello", nil},
		"cut":          {"Content-Length: 9\r\n\r\nhello", "hello", io.ErrUnexpectedEOF},
		"bad length":   {"Content-Length: five\r\n\r\n", "", errWire},
		"negative":     {"Content-Length: -5\r\n\r\n", "", errWire},
		"bad chunk":    {"Transfer-Encoding: chunked\r\n\r\nzz\r\n", "", errWire},
		"long chunk":   {"Transfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n", "he", errWire},
		"no colon":     {"Content-Length 5\r\n\r\n", "", errWire},
		"header ended": {"Content-Length: 5\r\n", "", io.EOF},
	} {
		t.Run(name, func(t *testing.T) {
			r := bufio.NewReaderSize(strings.NewReader(c.message), 16<<10)
			var got bytes.Buffer
			f, err := readFields(r)
			if err == nil {
				err = readBody(r, f, func(b []byte) error { got.Write(b); return nil })
			}
			if got.String() != c.want || !errors.Is(err, c.err) {
				t.Errorf("got %q and %v, want %q and %v", got.String(), err, c.want, c.err)
			}
		})
	}
}
