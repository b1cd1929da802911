package syslog

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svc-gateway/svc/internal/duckwire"
	"github.com/svc-gateway/svc/internal/eventually"
	"github.com/svc-gateway/svc/internal/testcert"
)

// shelf keeps messages. Whoever holds gate keeps others from adding some.
type shelf struct {
	gate, mu sync.Mutex
	list     []duckwire.Message
	keeps    []time.Duration
	fails    int
	most     int64 // bytes that are taken at once; 0: all
}

func (s *shelf) AddMessages(_ context.Context, table string, keep time.Duration, lines io.Reader) (duckwire.Added, error) {
	s.gate.Lock()
	defer s.gate.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails > 0 {
		s.fails--
		return duckwire.Added{}, errors.New("the writer has gone")
	}
	if table != "syslog" {
		return duckwire.Added{}, fmt.Errorf("got the table %q", table)
	}
	s.keeps = append(s.keeps, keep)
	if s.most > 0 {
		lines = io.LimitReader(lines, s.most)
	}
	for dec := json.NewDecoder(lines); ; {
		var m duckwire.Message
		if err := dec.Decode(&m); errors.Is(err, io.EOF) {
			return duckwire.Added{}, nil
		} else if err != nil {
			return duckwire.Added{}, err
		}
		s.list = append(s.list, m)
	}
}

func (s *shelf) texts() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for _, m := range s.list {
		fmt.Fprintf(&b, "%s %s\n", m.Transport, m.Text)
	}
	return b.String()
}

// room is how many messages may wait in tests.
const room = 1000

// serve starts a receiver and returns what ends it.
func serve(t *testing.T, c Config) (r *Receiver, end func() Totals) {
	t.Helper()
	c.Table = "syslog"
	r, err := Listen(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	r.queue.room = room
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan Totals, 1)
	go func() { done <- r.Serve(ctx) }()
	end = sync.OnceValue(func() Totals {
		cancel()
		return <-done
	})
	t.Cleanup(func() { end() })
	return r, end
}

func send(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
}

func dial(t *testing.T, a Address) net.Conn {
	t.Helper()
	c, err := new(net.Dialer).DialContext(t.Context(), a.Transport, a.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// received waits until so many messages came.
func received(t *testing.T, r *Receiver, n int64) {
	t.Helper()
	eventually.True(t, fmt.Sprint(n, " messages came"), func() bool { return r.Totals().Received >= n })
}

const loopback = "127.0.0.1:0"

func TestReceive(t *testing.T) {
	s := &shelf{}
	r, end := serve(t, Config{UDP: []string{loopback}, TCP: []string{loopback}, Database: s, Keep: time.Hour})
	udp, tcp := dial(t, r.Addresses()[0]), dial(t, r.Addresses()[1])
	send(t, udp, "<13>a datagram")
	send(t, tcp, "<13>a line\n12 <13>a counted") // cut short by its length
	send(t, tcp, "\n<13>half of one")
	received(t, r, 4)
	totals := end()
	if totals.Received != totals.Stored || totals.Stored < 4 || totals.missing() != 0 {
		t.Errorf("got %+v", totals)
	}
	got := s.texts()
	for _, want := range []string{"udp a datagram\n", "tcp a line\n", "tcp a counte\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s, want %q", got, want)
		}
	}
	if s.keeps[0] != time.Hour {
		t.Errorf("got %v, want messages to be removed after an hour", s.keeps)
	}
}

// While the database stands still, senders go on, what has no room is counted, and the table says so.
func TestOverload(t *testing.T) {
	s := &shelf{}
	r, end := serve(t, Config{TCP: []string{loopback}, Database: s})
	s.gate.Lock()
	open := sync.OnceFunc(s.gate.Unlock)
	t.Cleanup(open) // before the receiver ends
	c := dial(t, r.Addresses()[0])
	const n = 3 * room
	send(t, c, strings.Repeat("<13>x\n", n))
	received(t, r, n)
	dropped := r.Totals().Dropped
	if dropped < room || dropped > n-room {
		t.Errorf("got %d messages dropped, want %d to %d", dropped, room, n-room)
	}
	open()
	eventually.True(t, "the table says how many are missing", func() bool {
		return strings.Contains(s.texts(), fmt.Sprintf("internal %d messages are missing here", dropped))
	})
	if totals := end(); totals.Stored+totals.Dropped != totals.Received || totals.Received != n {
		t.Errorf("got %+v", totals)
	}
}

// A database that fails for a moment loses nothing; one that fails for longer is told of.
func TestFaults(t *testing.T) {
	s := &shelf{fails: attempts - 1}
	r, _ := serve(t, Config{TCP: []string{loopback}, Database: s})
	c := dial(t, r.Addresses()[0])
	send(t, c, "<13>one\n")
	eventually.True(t, "the message is stored", func() bool { return r.Totals().Stored == 1 })
	s.mu.Lock()
	s.fails = attempts
	s.mu.Unlock()
	send(t, c, "<13>two\n")
	eventually.True(t, "the message is counted", func() bool { return r.Totals().Dropped == 1 })
	send(t, c, "<13>three\n")
	eventually.True(t, "the table says that one is missing", func() bool { return strings.Contains(s.texts(), "1 messages are missing") })
	if got := s.texts(); !strings.Contains(got, "tcp three") || strings.Contains(got, "tcp two") {
		t.Errorf("got %s", got)
	}
}

// What waits is stored in batches that the database takes, also where each byte of a message is six as JSON.
func TestBatches(t *testing.T) {
	s := &shelf{most: 8 * 10_000}
	r, err := Listen(t.Context(), Config{Database: s, Table: "syslog"})
	if err != nil {
		t.Fatal(err)
	}
	r.batch = 10_000
	const n = 50
	list := make([]duckwire.Message, n)
	for i := range list {
		list[i].Text = strings.Repeat("\x01", 1_500)
	}
	if left, err := r.addAll(list, 0); left != 0 || err != nil || len(s.list) != n {
		t.Errorf("got %d left of %d, %v, and %d stored", left, n, err, len(s.list))
	}
}

func TestLowSpace(t *testing.T) {
	s := &shelf{}
	r, end := serve(t, Config{TCP: []string{loopback}, Database: s, Low: func() bool { return true }})
	send(t, dial(t, r.Addresses()[0]), "<13>one\n")
	received(t, r, 1)
	if totals := end(); totals.Dropped != 1 || s.texts() != "" {
		t.Errorf("got %+v and %q, want nothing stored", totals, s.texts())
	}
}

func TestFrom(t *testing.T) {
	s := &shelf{}
	r, end := serve(t, Config{UDP: []string{loopback}, TCP: []string{loopback}, Database: s, From: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}})
	send(t, dial(t, r.Addresses()[0]), "<13>one")
	if n, err := dial(t, r.Addresses()[1]).Read(make([]byte, 1)); n > 0 || err == nil {
		t.Errorf("got %d bytes, %v, want a connection that is closed", n, err)
	}
	eventually.True(t, "both are counted", func() bool { return r.Totals().Refused == 2 })
	if totals := end(); totals.Received != 0 {
		t.Errorf("got %+v", totals)
	}
}

// A stream that cannot be cut ends; what was before is kept, and others go on.
func TestBroken(t *testing.T) {
	s := &shelf{}
	r, end := serve(t, Config{TCP: []string{loopback}, Database: s})
	bad, good := dial(t, r.Addresses()[0]), dial(t, r.Addresses()[0])
	send(t, bad, "<13>before\n99999999999 <13>")
	if n, err := bad.Read(make([]byte, 1)); n > 0 || err == nil {
		t.Errorf("got %d bytes, %v, want a connection that is closed", n, err)
	}
	send(t, good, "<13>"+strings.Repeat("x", maxMessage)+"\n<13>after\n")
	received(t, r, 3)
	if totals := end(); totals.Stored != 3 || totals.Broken != 1 || totals.Truncated != 1 {
		t.Errorf("got %+v", totals)
	}
}

// Nobody can hold all places: one address has some of them at most.
func TestConnections(t *testing.T) {
	s := &shelf{}
	r, _ := serve(t, Config{TCP: []string{loopback}, Database: s})
	for range maxOfSender {
		dial(t, r.Addresses()[0])
	}
	eventually.True(t, "all places of the address are taken", func() bool { return len(r.places) == maxOfSender })
	if n, err := dial(t, r.Addresses()[0]).Read(make([]byte, 1)); n > 0 || err == nil {
		t.Errorf("got %d bytes, %v, want a connection that is closed", n, err)
	}
	other := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	c, err := other.DialContext(t.Context(), "tcp", r.Addresses()[0].Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	send(t, c, "<13>from another\n")
	received(t, r, 1)
}

func TestTLS(t *testing.T) {
	ca, err := testcert.NewAuthority("devices")
	if err != nil {
		t.Fatal(err)
	}
	own, err := ca.Issue(&x509.Certificate{
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		t.Fatal(err)
	}
	pool := ca.Pool()
	s := &shelf{}
	r, end := serve(t, Config{TLS: []string{loopback}, Database: s, Certificate: &tls.Config{
		Certificates: []tls.Certificate{own}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12,
	}})
	at := r.Addresses()[0].Addr
	without, err := (&tls.Dialer{Config: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS13}}).DialContext(t.Context(), "tcp", at)
	if err == nil { // a server of TLS 1.3 refuses the certificate after the client's handshake
		_, err = without.Read(make([]byte, 1))
		_ = without.Close()
	}
	if err == nil {
		t.Error("a sender without a certificate may send")
	}
	c, err := (&tls.Dialer{Config: &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{own}, MinVersion: tls.VersionTLS13}}).DialContext(t.Context(), "tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	send(t, c, "5 <13>a")
	received(t, r, 1)
	if totals := end(); totals.Stored != 1 || totals.Refused != 1 || s.texts() != "tls a\n" {
		t.Errorf("got %+v and %q", totals, s.texts())
	}
}

// Datagrams that the kernel drops because nobody reads them are counted, too.
func TestLost(t *testing.T) {
	s := &shelf{}
	r, err := Listen(t.Context(), Config{UDP: []string{loopback}, Database: s, Table: "syslog"})
	if err != nil {
		t.Fatal(err)
	}
	defer r.shut()
	c := dial(t, r.Addresses()[0])
	text := bytes.Repeat([]byte("x"), 8<<10)
	for range 4 * socketBuffer / len(text) {
		if _, err := c.Write(text); err != nil {
			t.Fatal(err)
		}
	}
	if r.countLost(); r.Totals().Lost == 0 {
		t.Error("nothing was counted")
	}
}
