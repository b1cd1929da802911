package ldap

import (
	"context"
	"errors"
	"sync"
	"time"
)

// keep is how long a connection that nobody uses stays open: less than firewalls forget one.
const keep = time.Minute

// pool bounds and keeps connections that are prepared in the same way.
type pool struct {
	open  func(ctx context.Context, l *look) (*conn, error)
	slots chan struct{}

	mu     sync.Mutex
	idle   []*conn // the one used last at the end
	closed bool
}

func newPool(size int, open func(context.Context, *look) (*conn, error)) *pool {
	return &pool{open: open, slots: make(chan struct{}, size)}
}

// use lets f work with a connection. A kept one may have been closed by the server meanwhile:
// then f is called again, with a new one.
func (p *pool) use(ctx context.Context, l *look, f func(*conn) error) error {
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return errors.New("all connections to the directory are in use: it is slow, or ldap.pool too small")
	}
	defer func() { <-p.slots }()
	for {
		c, kept := p.takeIdle(), true
		if c == nil {
			var err error
			if c, err = p.open(ctx, l); err != nil {
				return err
			}
			kept = false
		}
		err := c.run(ctx, func() error { return f(c) })
		if _, is := errors.AsType[broken](err); !is {
			p.giveBack(c)
			return err
		}
		c.close()
		if !kept || ctx.Err() != nil {
			c.server.fail(ctx, err)
			return err
		}
	}
}

// takeIdle returns a kept connection, nil when there is none. Those to a server that failed meanwhile
// would fail too, each after the whole time of a look.
func (p *pool) takeIdle() *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.idle) > 0 {
		c := p.idle[len(p.idle)-1]
		p.idle = p.idle[:len(p.idle)-1]
		if time.Since(c.idle) < keep && !c.ldap.IsClosing() && c.server.failed.Load() < c.idle.UnixNano() {
			return c
		}
		c.close()
	}
	return nil
}

// giveBack keeps a connection for the next use.
func (p *pool) giveBack(c *conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		c.close()
		return
	}
	c.idle = time.Now()
	p.idle = append(p.idle, c)
	for c.idle.Sub(p.idle[0].idle) > keep {
		p.idle[0].close()
		p.idle = p.idle[1:]
	}
}

// close keeps no connection from now on. Those in use are closed when they are given back.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, c := range p.idle {
		c.close()
	}
	p.idle = nil
}
