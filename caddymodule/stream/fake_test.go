package stream

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"github.com/svc-gateway/svc/internal/bus"
	"github.com/svc-gateway/svc/policy"
)

// fakeApp stands in for the svc app; its users are all fine until fail is set.
type fakeApp struct {
	bus      *bus.Memory
	stopping chan struct{}

	mu      sync.Mutex
	fail    error
	checked int
	holds   int
}

func (a *fakeApp) Bus() bus.Bus              { return a.bus }
func (a *fakeApp) Stopping() <-chan struct{} { return a.stopping }

func (a *fakeApp) Hold() func() {
	a.hold(1)
	return func() { a.hold(-1) }
}

func (a *fakeApp) hold(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.holds += n
}

func (a *fakeApp) held() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.holds
}

func (a *fakeApp) set(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fail = err
}

func (a *fakeApp) Resolve(_ context.Context, p policy.Principal) (policy.Principal, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.checked++
	return p, a.fail
}

// client records what arrives and how often it was flushed. It can stop reading.
type client struct {
	header http.Header
	mu     sync.Mutex
	got    strings.Builder
	sent   string // got as of the last flush
	code   int
	err    error
}

func (c *client) Header() http.Header { return c.header }

func (c *client) WriteHeader(code int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.code = code
}

func (c *client) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, c.err
	}
	return c.got.Write(p)
}

func (c *client) FlushError() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent = c.got.String()
	return c.err
}

func (c *client) body() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sent
}
