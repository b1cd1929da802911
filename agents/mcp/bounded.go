package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The bounds of what a server sends.
const (
	maxMessage = 4 << 20  // bytes of a message
	maxBody    = 16 << 20 // bytes of the body of an HTTP answer, with all its events
	maxHeader  = 64 << 10
)

// errTooLarge and errFlood are what becomes of a server that sends more than it may.
var (
	errTooLarge = fmt.Errorf("it sent more than %d bytes at once", maxBody)
	errFlood    = errors.New("it floods: too many messages came that nobody asked for")
)

// calm is a transport that leaves a server which sends too much that nobody asked for.
type calm struct{ sdk.Transport }

func (t calm) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := t.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &calmConn{Connection: c, quota: quota{at: time.Now(), left: burst}}, nil
}

// A server may send so many requests and notifications a second, and so many at once.
const (
	perSecond = 100
	burst     = 1000
)

// quota counts what a server sends by itself.
type quota struct {
	at   time.Time
	left float64
}

// take reports whether one more message may come at a time.
func (q *quota) take(now time.Time) bool {
	q.left = min(burst, q.left+now.Sub(q.at).Seconds()*perSecond) - 1
	q.at = now
	return q.left >= 0
}

// calmConn is read by one goroutine at a time.
type calmConn struct {
	sdk.Connection
	mu    sync.Mutex
	quota quota
}

// Read implements [sdk.Connection].
func (c *calmConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	msg, err := c.Connection.Read(ctx)
	if err != nil {
		return nil, err
	}
	if _, answer := msg.(*jsonrpc.Response); answer {
		return msg, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.quota.take(time.Now()) {
		return nil, errors.Join(errFlood, c.Connection.Close())
	}
	return msg, nil
}

// oneHost is an HTTP transport to one server: it sends the key to no other, follows no redirect and ends a
// body that is too large.
type oneHost struct {
	ctx    context.Context // ends all of its requests
	next   http.RoundTripper
	host   string
	header http.Header // sent with every request
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
	resp, err := t.next.RoundTrip(r)
	if err != nil {
		end()
		return nil, err
	}
	resp.Body = &boundedBody{resp.Body, maxBody, end}
	return resp, nil
}

// boundedBody ends with an error behind so many bytes.
type boundedBody struct {
	io.ReadCloser
	left int64
	end  func() // called when it is closed
}

func (b *boundedBody) Close() error {
	defer b.end()
	return b.ReadCloser.Close()
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLarge
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}
