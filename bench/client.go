package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"time"
)

// client is one connection that sends one request after the other.
type client struct {
	conn net.Conn
	r    *bufio.Reader
}

func dial(ctx context.Context, addr string, buffer int) (*client, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("connecting: %w", err)
	}
	return &client{c, bufio.NewReaderSize(c, buffer)}, nil
}

func (c *client) close() { c.conn.Close() }

// timing is when things happened, counted from the request.
type timing struct{ first, whole time.Duration }

// do sends a request, and checks the response while it reads it.
func (c *client) do(request []byte, ck checker) (timing, error) {
	var t timing
	start := time.Now()
	ck.begin()
	f, err := c.send(request)
	if err != nil {
		return t, err
	}
	err = readBody(c.r, f, func(b []byte) error {
		if err := ck.see(b); err != nil {
			return err
		}
		if t.first == 0 && ck.begun() {
			t.first = time.Since(start)
		}
		return nil
	})
	if err == nil {
		err = ck.end()
	}
	t.whole = time.Since(start)
	return t, err
}

// send sends a request and reads the response's header. Any status but 200 is an error that
// shows what the server says.
func (c *client) send(request []byte) (fields, error) {
	if _, err := c.conn.Write(request); err != nil {
		return fields{}, fmt.Errorf("sending a request: %w", err)
	}
	line, err := readLine(c.r)
	if err != nil {
		return fields{}, fmt.Errorf("reading a response: %w", unexpected(err))
	}
	ok := bytes.HasPrefix(line, []byte("HTTP/1.1 200"))
	status := ""
	if !ok {
		status = string(line)
	}
	f, err := readFields(c.r)
	if err != nil {
		return f, fmt.Errorf("reading a response: %w", unexpected(err))
	}
	if !ok {
		var body []byte
		if err := readBody(c.r, f, func(b []byte) error { body = append(body, b...); return nil }); err != nil {
			return f, fmt.Errorf("%s: %w", status, err)
		}
		return f, fmt.Errorf("the server answers %s: %s", status, body)
	}
	if f.last {
		return f, fmt.Errorf("%w: the server closes the connection after a response", errWire)
	}
	return f, nil
}
