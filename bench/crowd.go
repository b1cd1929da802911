package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"
)

// crowd is many waiting streams.
type crowd struct {
	mu    sync.Mutex
	conns []*client
}

// add opens n streams, some at a time, and reads the first event of each.
func (c *crowd) add(ctx context.Context, n int, addr string, request []byte) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	todo := make(chan struct{}, n)
	for range n {
		todo <- struct{}{}
	}
	close(todo)
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			for range todo {
				if ctx.Err() != nil {
					return
				}
				if err := c.open(ctx, addr, request); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

var errFirst = errors.New("the first event is there")

func (c *crowd) open(ctx context.Context, addr string, request []byte) error {
	s, err := dial(ctx, addr, 1<<10)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.conns = append(c.conns, s)
	c.mu.Unlock()
	if err := s.conn.SetDeadline(time.Now().Add(slack)); err != nil {
		return fmt.Errorf("setting a deadline: %w", err)
	}
	f, err := s.send(request)
	if err != nil {
		return err
	}
	err = readBody(s.r, f, func(b []byte) error {
		if !bytes.HasPrefix(b, []byte("data: ")) {
			return fmt.Errorf("%w: the first event is %.120q", errBody, b)
		}
		return errFirst
	})
	if !errors.Is(err, errFirst) {
		return fmt.Errorf("waiting for the first event: %w", err)
	}
	return nil
}

// alive reports a stream that has ended: the figures would be of fewer than they say.
func (c *crowd) alive() error {
	for _, s := range c.conns {
		if err := s.alive(); err != nil {
			return fmt.Errorf("a waiting stream: %w", err)
		}
	}
	return nil
}

// alive looks, without waiting, at what has come since: keepalives are fine, an end is not.
func (c *client) alive() error {
	raw, err := c.conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		var buf [256]byte
		for {
			n, _, err := syscall.Recvfrom(int(fd), buf[:], syscall.MSG_DONTWAIT)
			switch {
			case errors.Is(err, syscall.EAGAIN):
				return
			case err != nil:
				failed = err
				return
			case n == 0 || bytes.Contains(buf[:n], lastChunk):
				failed = errors.New("it has ended")
				return
			}
		}
	})
	return errors.Join(err, failed)
}

func (c *crowd) close() {
	for _, s := range c.conns {
		s.close()
	}
}
