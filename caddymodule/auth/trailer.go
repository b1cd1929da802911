package auth

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"golang.org/x/net/http/httpguts"

	"github.com/svc-gateway/svc/internal/headername"
)

// stripTrailers keeps reserved names out of the fields behind the body, which servers may add to the
// header (RFC 9110, 6.5.1): those that are announced, and those that arrive with the end of the body
// alone. What is about the message, its path, who sends it or its way here has no place there either.
//
// The server writes the fields that arrive into its own map, in whichever goroutine reads or closes
// the body. The handlers behind get a map of their own, so that they never see it change.
func (s reserved) stripTrailers(r *http.Request) {
	if r.Trailer == nil || r.Body == nil {
		return // what comes unannounced now is added to the server's own copy of the request
	}
	b := &trailed{ReadCloser: r.Body, from: r.Trailer, to: make(http.Header, len(r.Trailer)), lets: s.letsBehind}
	b.pass()
	r.Trailer, r.Body = b.to, b
}

// letsBehind reports whether a field may stand behind a body.
func (s reserved) letsBehind(name string) bool {
	folded := headername.Fold(name)
	return !s.has(name, []byte(folded)) && !notBehind[folded] && !astray[folded] && !strings.HasPrefix(folded, forwardedPrefix) && httpguts.ValidTrailerHeader(name)
}

// notBehind are fields that have no place behind a body, by their folded names. Neither have those
// that begin with forwardedPrefix.
var notBehind = headername.Set("Cookie", "Forwarded", "Proxy-Authorization", "Via", "X-Api-Key", "X-Real-Ip", requestID)

// trailed is the body of a request with fields behind it. They are there when a read has found the
// end, and only the first such read passes them on: a proxy may close the body in another goroutine
// at any time, and then sends nothing that stands behind it.
type trailed struct {
	io.ReadCloser
	from, to http.Header
	lets     func(name string) bool
	end      sync.Once
}

func (b *trailed) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		b.end.Do(b.pass)
	}
	return n, err
}

func (b *trailed) pass() {
	for name, values := range b.from {
		if b.lets(name) {
			b.to[name] = values
		}
	}
}
