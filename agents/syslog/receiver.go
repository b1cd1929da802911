package syslog

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/svc-gateway/svc/internal/duckwire"
	"github.com/svc-gateway/svc/internal/seats"
)

// Config says where messages come from and go to.
type Config struct {
	UDP, TCP, TLS []string       // addresses to listen on, such as :5514
	Certificate   *tls.Config    // for TLS
	From          []netip.Prefix // who may send; empty: everybody
	Table         string
	Keep          time.Duration // how long messages are kept; 0: for ever
	Database      Database
	Low           func() bool // reports whether disk space is low: nothing is stored then. Nil: it never is
	Log           *zap.Logger
}

// Database takes messages, a [duckwire.Message] as JSON on each line.
type Database interface {
	AddMessages(ctx context.Context, table string, keep time.Duration, lines io.Reader) (duckwire.Added, error)
}

// The bounds of what comes in at once.
const (
	maxConnections = 1024             // of all listeners for streams
	maxOfSender    = 128              // of one address
	idleTime       = 15 * time.Minute // after which a silent connection is closed
	handshakeTime  = 10 * time.Second
	socketBuffer   = 8 << 20               // bytes that the kernel keeps of datagrams; it may give less
	pause          = 10 * time.Millisecond // after an error that may come again at once
)

// Receiver receives messages.
type Receiver struct {
	config Config
	count  counters
	queue  *queue
	batch  int // bytes of messages that are stored together
	udp    []*net.UDPConn
	tcp    []listener
	places chan struct{} // one for each connection

	senders seats.Seats // connections of each address

	mu    sync.Mutex
	conns map[net.Conn]struct{}
}

type listener struct {
	net.Listener
	transport string
}

// Listen opens the sockets.
func Listen(ctx context.Context, c Config) (r *Receiver, err error) {
	if c.Log == nil {
		c.Log = zap.NewNop()
	}
	if c.Low == nil {
		c.Low = func() bool { return false }
	}
	r = &Receiver{config: c, queue: newQueue(maxWaiting), batch: maxBatch, places: make(chan struct{}, maxConnections), conns: map[net.Conn]struct{}{}}
	defer func() {
		if err != nil {
			r.shut()
		}
	}()
	var lc net.ListenConfig
	for _, addr := range c.UDP {
		p, err := lc.ListenPacket(ctx, "udp", addr)
		if err != nil {
			return nil, fmt.Errorf("listening for datagrams on %s: %w", addr, err)
		}
		conn, ok := p.(*net.UDPConn)
		if !ok {
			return nil, errors.Join(fmt.Errorf("listening for datagrams on %s: got a %T", addr, p), p.Close())
		}
		r.udp = append(r.udp, conn)
		if err := conn.SetReadBuffer(socketBuffer); err != nil {
			c.Log.Debug("setting the buffer of datagrams", zap.Error(err))
		}
	}
	for _, addr := range c.TCP {
		l, err := lc.Listen(ctx, "tcp", addr)
		if err != nil {
			return nil, fmt.Errorf("listening on %s: %w", addr, err)
		}
		r.tcp = append(r.tcp, listener{l, "tcp"})
	}
	for _, addr := range c.TLS {
		l, err := lc.Listen(ctx, "tcp", addr)
		if err != nil {
			return nil, fmt.Errorf("listening on %s: %w", addr, err)
		}
		r.tcp = append(r.tcp, listener{tls.NewListener(l, c.Certificate), "tls"})
	}
	return r, nil
}

// Address is where a receiver listens.
type Address struct{ Transport, Addr string }

// Addresses are where the receiver listens, with the ports that it got.
func (r *Receiver) Addresses() (all []Address) {
	for _, c := range r.udp {
		all = append(all, Address{"udp", c.LocalAddr().String()})
	}
	for _, l := range r.tcp {
		all = append(all, Address{l.transport, l.Addr().String()})
	}
	return all
}

// Serve receives messages until ctx ends, stores what came, and returns what became of all.
func (r *Receiver) Serve(ctx context.Context) Totals {
	var inlets, outlet sync.WaitGroup
	outlet.Go(r.store)
	for _, c := range r.udp {
		inlets.Go(func() { r.datagrams(c) })
	}
	for _, l := range r.tcp {
		inlets.Go(func() { r.accept(&inlets, l) })
	}
	<-ctx.Done()
	r.countLost()
	r.shut()
	inlets.Wait()
	r.queue.close()
	outlet.Wait()
	return r.Totals()
}

// shut closes the sockets.
func (r *Receiver) shut() {
	for _, c := range r.udp {
		_ = c.Close()
	}
	for _, l := range r.tcp {
		_ = l.Close()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.conns {
		_ = c.Close()
	}
	r.conns = nil
}

// take puts a message into the queue, or counts it as dropped.
func (r *Receiver) take(p *parser, a arrival) {
	r.count.received.Add(1)
	m := p.parse(a)
	if m.Format == formUnknown {
		r.count.unknown.Add(1)
	}
	if a.truncated {
		r.count.truncated.Add(1)
	}
	if !r.queue.put(m) {
		r.count.dropped.Add(1)
	}
}

// allows reports whether an address may send.
func (r *Receiver) allows(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	ok := len(r.config.From) == 0 || slices.ContainsFunc(r.config.From, func(p netip.Prefix) bool { return p.Contains(addr) })
	if !ok {
		r.count.refused.Add(1)
	}
	return ok
}

// datagrams reads messages of one socket, a datagram each.
func (r *Receiver) datagrams(c *net.UDPConn) {
	p, buf := newParser(), make([]byte, maxMessage)
	for {
		n, from, err := c.ReadFromUDPAddrPort(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			r.config.Log.Warn("reading a datagram", zap.Error(err))
			<-time.After(pause)
			continue
		}
		if n > 0 && r.allows(from.Addr()) {
			r.take(p, arrival{raw: buf[:n], at: time.Now(), sender: from.Addr().Unmap().String(), transport: "udp"})
		}
	}
}

// accept serves the connections of a listener. What is over the limit is closed at once.
func (r *Receiver) accept(inlets *sync.WaitGroup, l listener) {
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			r.config.Log.Warn("accepting a connection", zap.Error(err))
			<-time.After(pause) // until files are free again
			continue
		}
		from := addressOf(c)
		if !r.allows(from) {
			_ = c.Close()
			continue
		}
		free, ok := r.seat(from)
		if !ok {
			r.count.refused.Add(1)
			_ = c.Close()
			continue
		}
		if !r.hold(c) {
			free()
			return
		}
		inlets.Go(func() {
			defer free()
			defer r.letGo(c)
			r.stream(c, l.transport, from)
		})
	}
}

// seat is room for one more connection, if there is some for this address.
func (r *Receiver) seat(from netip.Addr) (free func(), ok bool) {
	select {
	case r.places <- struct{}{}:
	default:
		return nil, false
	}
	leave, ok := r.senders.Take(from.String(), maxOfSender)
	if !ok {
		<-r.places
		return nil, false
	}
	return func() { leave(); <-r.places }, true
}

func addressOf(c net.Conn) netip.Addr {
	addr, ok := c.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return addr.AddrPort().Addr().Unmap()
}

// hold notes an open connection. It reports false when the receiver is shut.
func (r *Receiver) hold(c net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.conns == nil {
		_ = c.Close()
		return false
	}
	r.conns[c] = struct{}{}
	return true
}

func (r *Receiver) letGo(c net.Conn) {
	_ = c.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.conns, c)
}

// stream reads the messages of one connection.
func (r *Receiver) stream(c net.Conn, transport string, from netip.Addr) {
	if t, ok := c.(*tls.Conn); ok {
		ctx, cancel := context.WithTimeout(context.Background(), handshakeTime)
		err := t.HandshakeContext(ctx)
		cancel()
		if err != nil {
			r.count.refused.Add(1)
			r.config.Log.Info("a TLS connection failed", zap.Stringer("sender", from), zap.Error(err))
			return
		}
	}
	p, f := newParser(), newFrames(alive{c})
	for {
		raw, truncated, err := f.next()
		if err == nil {
			r.take(p, arrival{raw: raw, at: time.Now(), sender: from.String(), transport: transport, truncated: truncated})
			continue
		}
		if errors.Is(err, errFraming) || errors.Is(err, io.ErrUnexpectedEOF) {
			r.count.broken.Add(1)
			r.config.Log.Info("a stream of messages broke off", zap.Stringer("sender", from), zap.Error(err))
		}
		return
	}
}

// alive is a connection that ends when nothing comes for too long.
type alive struct{ net.Conn }

func (a alive) Read(p []byte) (int, error) {
	if err := a.SetReadDeadline(time.Now().Add(idleTime)); err != nil {
		return 0, err
	}
	return a.Conn.Read(p)
}
