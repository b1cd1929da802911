package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
)

// upstreamCommand is the argument that makes this program the mock upstream, a process of its
// own: what it costs is not counted as the service's and is the same for (a) and (b).
const upstreamCommand = "upstream"

// runUpstream serves until its standard input ends, which it does when the parent is gone. The
// first line of its output is its address.
func runUpstream(in io.Reader, out io.Writer) error {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	if _, err := fmt.Fprintln(out, ln.Addr()); err != nil {
		return errors.Join(fmt.Errorf("telling the address: %w", err), ln.Close())
	}
	var u upstream
	served := make(chan struct{})
	go func() { u.serve(ln); close(served) }()
	_, err = io.Copy(io.Discard, in)
	ln.Close()
	<-served
	u.close()
	return err
}

// upstream answers POST /json, /sse and /burst with fixed content, chat completions below /answer/v1 and
// /pieces/v1 too, and /wait and /v1/chat/completions with one event and silence. Everything else is an
// empty object.
type upstream struct {
	mu    sync.Mutex
	conns map[net.Conn]bool
	wg    sync.WaitGroup
}

func (u *upstream) serve(ln net.Listener) {
	u.conns = map[net.Conn]bool{}
	for {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		u.mu.Lock()
		u.conns[c] = true
		u.mu.Unlock()
		u.wg.Go(func() {
			_ = answerAll(c) // the peer has gone; the client at the other end notices what is missing
			u.mu.Lock()
			delete(u.conns, c)
			u.mu.Unlock()
			c.Close()
		})
	}
}

func (u *upstream) close() {
	u.mu.Lock()
	for c := range u.conns {
		c.Close()
	}
	u.mu.Unlock()
	u.wg.Wait()
}

func answerAll(c net.Conn) error {
	r := bufio.NewReaderSize(c, 2048)
	for {
		line, err := readLine(r)
		if err != nil {
			return err
		}
		send := routeOf(line)
		f, err := readFields(r)
		if err != nil {
			return err
		}
		if err := readBody(r, f, func([]byte) error { return nil }); err != nil {
			return err
		}
		if err := send(c, r); err != nil {
			return err
		}
	}
}

type sender func(c net.Conn, r *bufio.Reader) error

var (
	sendDocument = constant(jsonResponse(responseBody))
	sendAnswer   = constant(jsonResponse(chatAnswer))
	sendEmpty    = constant(jsonResponse([]byte("{}")))
	sendBurst    = constant(append(bytes.Clone(sseHead), append(chunk(streamBody), lastChunk...)...))
)

func routeOf(line []byte) sender {
	_, rest, _ := bytes.Cut(line, []byte(" "))
	path, _, _ := bytes.Cut(rest, []byte(" "))
	switch string(path) {
	case "/json":
		return sendDocument
	case "/sse":
		return sendEach(chunks)
	case answerPath + completion:
		return sendAnswer
	case piecesPath + completion:
		return sendEach(chatChunks)
	case "/burst":
		return sendBurst
	case "/wait":
		return waiting(waitEvent)
	case "/v1/chat/completions":
		return waiting([]byte(`data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"mock","choices":[{"index":0,"delta":{"role":"assistant","content":"` + prose + `"}}]}` + "\n\n"))
	}
	return sendEmpty
}

var (
	sseHead   = []byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n\r\n")
	lastChunk = []byte("0\r\n\r\n")

	chunks     = chunked(streamEvents)
	chatChunks = chunked(chatPieces)
)

func chunked(events [][]byte) [][]byte {
	all := make([][]byte, len(events))
	for i, e := range events {
		all[i] = chunk(e)
	}
	return all
}

func jsonResponse(body []byte) []byte {
	return fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

func chunk(b []byte) []byte { return fmt.Appendf(nil, "%x\r\n%s\r\n", len(b), b) }

func constant(response []byte) sender {
	return func(c net.Conn, _ *bufio.Reader) error {
		_, err := c.Write(response)
		return err
	}
}

// sendEach writes each event by itself, as servers do that flush.
func sendEach(chunks [][]byte) sender {
	return func(c net.Conn, _ *bufio.Reader) error {
		if _, err := c.Write(sseHead); err != nil {
			return err
		}
		for _, b := range chunks {
			if _, err := c.Write(b); err != nil {
				return err
			}
		}
		_, err := c.Write(lastChunk)
		return err
	}
}

// waiting writes one event and then waits until the other end has gone.
func waiting(event []byte) sender {
	return func(c net.Conn, r *bufio.Reader) error {
		if _, err := c.Write(append(bytes.Clone(sseHead), chunk(event)...)); err != nil {
			return err
		}
		_, err := r.Peek(1)
		return err
	}
}
