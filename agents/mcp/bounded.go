package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"sync/atomic"
	"time"
)

// The bounds of what a server sends.
const (
	maxMessage = 4 << 20  // bytes of a message
	maxBody    = 16 << 20 // bytes of the body of an HTTP answer, with all its events
	maxHeader  = 64 << 10
)

// errTooLarge and errFlood are what becomes of a server that sends more than it may.
var (
	errTooLarge = errors.New("it sent a message that is too large")
	errFlood    = errors.New("it floods: it sent far more than it was asked for")
)

// A program may send so many messages at once, and so many a second after that. What it is asked for fits.
const (
	burst     = 1000
	perSecond = 100
)

// quota bounds what is read of a program. One goroutine reads.
type quota struct {
	io.ReadCloser
	left float64 // messages
	at   time.Time
	line int // bytes since the last line end
	deep depth
	over atomic.Pointer[error]
}

func (q *quota) Read(p []byte) (int, error) {
	n, err := q.ReadCloser.Read(p)
	if broken := q.take(p[:n], time.Now()); broken != nil {
		q.over.Store(&broken)
		return 0, broken
	}
	return n, err
}

// take says why no more may be read when these bytes have come at a time; nil when it may.
func (q *quota) take(b []byte, now time.Time) error {
	q.left = min(burst, q.left+now.Sub(q.at).Seconds()*perSecond) - float64(bytes.Count(b, []byte{'\n'}))
	q.at = now
	for _, c := range b {
		if c == '\n' {
			q.deep = depth{}
		} else if q.deep.take(c) {
			return errTooDeep
		}
	}
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			q.line += len(b)
			break
		}
		if q.line+i > maxMessage {
			return errTooLarge
		}
		q.line, b = 0, b[i+1:]
	}
	switch {
	case q.line > maxMessage:
		return errTooLarge
	case q.left < 0:
		return errFlood
	}
	return nil
}

// broken is why no more is read, nil when it is.
func (q *quota) broken() error {
	if err := q.over.Load(); err != nil {
		return *err
	}
	return nil
}

// oneHost is an HTTP transport to one server: it sends the key to no other, follows no redirect and ends a
// body that is too large.
type oneHost struct {
	ctx     context.Context // ends all of its requests
	next    http.RoundTripper
	host    string
	header  http.Header           // sent with every request
	trouble atomic.Pointer[error] // with the last answer
}

// Errors of answers that are none to the request.
var (
	errNotTaken = errors.New("it does not take what this service proves itself with")
	errRefused  = errors.New("it answers with an error")
)

// why is what was wrong with the last answer; nil: nothing.
func (t *oneHost) why() error {
	if err := t.trouble.Load(); err != nil {
		return *err
	}
	return nil
}

// refusal is what a status says of a request; nil: it was taken.
func refusal(status int) error {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return fmt.Errorf("%w (HTTP %d)", errNotTaken, status)
	case status >= http.StatusMultipleChoices:
		return fmt.Errorf("%w (HTTP %d)", errRefused, status)
	}
	return nil
}

// RoundTrip implements [http.RoundTripper].
func (t *oneHost) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host != t.host {
		return nil, fmt.Errorf("%s is another server", r.URL.Host)
	}
	ctx, cancel := context.WithCancel(r.Context())
	unlink := context.AfterFunc(t.ctx, cancel)
	end := func() { unlink(); cancel() }
	r = r.Clone(ctx)
	for name, values := range t.header {
		r.Header[name] = values
	}
	t.trouble.Store(nil)
	resp, err := t.next.RoundTrip(r)
	if err != nil {
		end()
		return nil, err
	}
	tell := func(err error) { t.trouble.Store(&err) }
	tell(refusal(resp.StatusCode))
	body := &boundedBody{ReadCloser: resp.Body, left: maxBody, end: end, broken: tell}
	if media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); media == "text/event-stream" {
		body.deep = (&eventDepth{data: true}).take
	} else {
		body.deep = new(depth).take
	}
	resp.Body = body
	return resp, nil
}

// boundedBody ends with an error behind so many bytes, and where JSON in it is nested too deep.
type boundedBody struct {
	io.ReadCloser
	left int64
	deep func(byte) bool
	end  func() // called when it is closed

	over   error       // why no more is read
	broken func(error) // is told of it
}

func (b *boundedBody) Close() error {
	defer b.end()
	return b.ReadCloser.Close()
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 && b.over == nil {
		b.over = errTooLarge
	}
	if b.over != nil {
		b.broken(b.over)
		return 0, b.over
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	if slices.ContainsFunc(p[:n], b.deep) {
		b.over = errTooDeep
		b.broken(b.over)
		return 0, b.over
	}
	return n, err
}
