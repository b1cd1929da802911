package auth

import (
	"io"
	"net/http"

	"golang.org/x/net/http/httpguts"

	"github.com/svc-gateway/svc/internal/headername"
)

// stripTrailers keeps reserved names out of the fields behind the body, which servers may add to the
// header (RFC 9110, 6.5.1): those that are announced, and those that arrive with the end of the body
// alone. What is about the message, who sends it or its way here has no place there either.
func (s reserved) stripTrailers(r *http.Request) {
	fields := r.Trailer
	if fields == nil || r.Body == nil {
		return // what comes unannounced now is added to the server's own copy of the request
	}
	b := &trailed{ReadCloser: r.Body, strip: func() {
		for name := range fields {
			if s.has(name) || notBehind[headername.Fold(name)] || !httpguts.ValidTrailerHeader(name) {
				delete(fields, name)
			}
		}
	}}
	b.strip()
	r.Body = b
}

// notBehind are fields that have no place behind a body, by their folded names.
var notBehind = headername.Set(
	"Cookie", "Forwarded", "Proxy-Authorization", "Via", "X-Api-Key", "X-Forwarded-For",
	"X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", requestID,
)

// trailed is the body of a request with fields behind it. They are there when a read has found the
// end, so whoever found it does not see them before they were stripped.
type trailed struct {
	io.ReadCloser
	strip func()
}

func (b *trailed) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.strip()
	}
	return n, err
}

func (b *trailed) Close() error {
	err := b.ReadCloser.Close() // it may read what is left
	b.strip()
	return err
}
