package rest

import (
	"bytes"
	"io"
	"net/http"
)

// peeked is a body that was read before its handler reads it.
type peeked struct {
	io.Reader
	whole []byte
}

func (*peeked) Close() error { return nil }

// Peek reads a request's body of at most limit bytes and leaves it there for the handler.
func (s *Server) Peek(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	hold := s.Options.Memory.Hold(Caller(r).User)
	defer hold.Release() // the handler takes it again
	body, err := readBody(w, r, hold, limit)
	if err != nil {
		return nil, err
	}
	r.Body = &peeked{bytes.NewReader(body), body}
	return body, nil
}
