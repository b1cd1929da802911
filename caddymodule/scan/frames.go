package scan

import (
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/svc-gateway/svc/internal/media"
)

// errNotFramed is why a body is refused that says it is of gRPC messages.
var errNotFramed = errors.New("the body is not of gRPC messages")

// maxFrame is the longest first message of a gRPC request, in bytes. Text in UTF-16, whose first
// character is half a zero, would be a longer one.
const maxFrame = 64 << 20

// framed reports whether a request says that it carries gRPC messages. They are binary, and answers may be
// waited for before all of them are there: they pass unscanned and at once. Messages in base64 are text.
func framed(b media.Body) bool {
	return b.Kind == media.GRPC && !b.Ambiguous && !strings.HasPrefix(b.Type, "application/grpc-web-text")
}

// frames is the body of a request that carries gRPC messages. It fails where the first bytes are not those of a message:
// a server that does not look at the type could take the rest for text.
type frames struct {
	io.ReadCloser
	head []byte // checked, not read yet; nil: nothing was read
	err  error
}

func (f *frames) Read(p []byte) (int, error) {
	if f.head == nil && f.err == nil {
		f.head = make([]byte, 5)
		n, err := io.ReadFull(f.ReadCloser, f.head)
		f.head, f.err = f.head[:n], err
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF),
			err == nil && (f.head[0] > 1 || binary.BigEndian.Uint32(f.head[1:]) > maxFrame):
			f.head, f.err = f.head[:0], &bodyError{err: errNotFramed}
		}
	}
	if len(f.head) > 0 {
		n := copy(p, f.head)
		f.head = f.head[n:]
		return n, nil
	}
	if f.err != nil {
		return 0, f.err
	}
	return f.ReadCloser.Read(p)
}

// passFrames lets the body of a request pass that carries gRPC messages.
func passFrames(r *http.Request) { r.Body = &frames{ReadCloser: r.Body} }
