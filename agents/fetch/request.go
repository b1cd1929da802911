package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/svc-gateway/svc/scanner/command"
)

// Request is what a server is asked.
type Request struct {
	Method string
	URL    string
	Header map[string]string
	Body   string
}

// Methods are those of requests: the first two only read, the others write.
var Methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

const maxBody = 64 << 10 // bytes of the body of a request: people read it before they approve it

// Writes reports whether the request may change something. A method that is not known may.
func (r Request) Writes() bool { return r.Method != http.MethodGet && r.Method != http.MethodHead }

// CheckRequest says why a request must not be made, with the field and what to write instead. It looks at no
// address.
func (c *Client) CheckRequest(r Request) error {
	if !slices.Contains(Methods, r.Method) {
		return fmt.Errorf("method: it is none of %s, in capital letters: write one of them", strings.Join(Methods, ", "))
	}
	if _, err := c.Check(r.URL); err != nil {
		return fmt.Errorf("url: %w", err)
	}
	if err := r.checkBody(); err != nil {
		return fmt.Errorf("body: %w", err)
	}
	if err := c.checkHeader(r); err != nil {
		return fmt.Errorf("headers: %w", err)
	}
	return nil
}

// checkBody refuses a body that people would not see as it is sent.
func (r Request) checkBody() error {
	typed := false
	for name := range r.Header {
		typed = typed || strings.EqualFold(name, "Content-Type")
	}
	switch {
	case r.Body == "":
		return nil
	case !r.Writes():
		return fmt.Errorf("a request with %s has none: leave it out, or use POST", r.Method)
	case len(r.Body) > maxBody:
		return fmt.Errorf("it has %d bytes, and people read it before they approve it: send at most %d, in several requests", len(r.Body), maxBody)
	case !utf8.ValidString(r.Body) || strings.ContainsFunc(r.Body, hidden):
		return errors.New("it has characters that people do not see, such as control characters or changes of direction: leave them out, and end lines with \\n")
	case !typed:
		return errors.New("its type is not told: give the header Content-Type")
	}
	return nil
}

// hidden reports whether people do not see a character of a text.
func hidden(r rune) bool { return r != '\n' && r != '\t' && !command.Visible(r) }

// newRequest makes one request of a chain.
func newRequest(ctx context.Context, address string, request Request, with []Credential) (*http.Request, error) {
	var body io.Reader
	if request.Body != "" {
		body = strings.NewReader(request.Body)
	}
	r, err := http.NewRequestWithContext(ctx, request.Method, address, body)
	if err != nil {
		return nil, errors.New("the request cannot be made")
	}
	r.Header.Set("Accept", "text/*, application/json, */*;q=0.5")
	for name, value := range request.Header {
		r.Header.Set(name, value)
	}
	for _, cr := range with {
		r.Header.Set(cr.Header, string(cr.Value))
	}
	r.Header.Set("User-Agent", "svc")
	r.Header.Set("Accept-Encoding", "gzip")
	return r, nil
}
