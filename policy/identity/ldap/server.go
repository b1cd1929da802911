package ldap

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	goldap "github.com/go-ldap/ldap/v3"
)

// penalty is how long a server that failed is asked after the others.
const penalty = 30 * time.Second

// server is one address of the directory.
type server struct {
	url     string
	address string // host:port
	tls     *tls.Config
	mode    security
	failed  atomic.Int64 // Unix nanoseconds of the last failure; 0: it worked since
	trouble Trouble

	standing atomic.Pointer[standing] // nil: it was not asked yet
}

// Trouble is told when a server begins to fail, and with a nil error when it works again.
type Trouble func(server string, err error)

type security int

const (
	startTLS security = iota // ldap://
	ldaps                    // ldaps://
	clear                    // ldap:// with the setting insecure
)

func newServer(raw string, insecure bool, roots *x509.CertPool, trouble Trouble) (*server, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, err
	}
	s := &server{
		url: raw, trouble: trouble,
		tls: &tls.Config{ServerName: u.Hostname(), RootCAs: roots, MinVersion: tls.VersionTLS12},
	}
	port := u.Port()
	switch {
	case u.Scheme == "ldaps":
		s.mode = ldaps
	case insecure:
		s.mode = clear
	}
	if port == "" {
		port = map[bool]string{true: "636", false: "389"}[s.mode == ldaps]
	}
	s.address = net.JoinHostPort(u.Hostname(), port)
	return s, nil
}

// connect opens an encrypted connection.
func (s *server) connect(ctx context.Context, l *look) (*conn, error) {
	var nc net.Conn
	err := l.step("connect", func() (string, error) {
		var err error
		var d net.Dialer
		if nc, err = d.DialContext(ctx, "tcp", s.address); err != nil {
			return s.url, err
		}
		return s.url + " at " + nc.RemoteAddr().String(), nil
	})
	if err != nil {
		return nil, err
	}
	c := &conn{net: nc, server: s}
	if s.mode == clear {
		c.ldap = goldap.NewConn(nc, false)
		c.ldap.Start()
		return c, nil
	}
	err = l.step("tls", func() (detail string, err error) {
		if s.mode == ldaps {
			detail, err = c.encrypt(ctx)
			return detail, s.mixedUp(err)
		}
		c.ldap = goldap.NewConn(nc, false)
		c.ldap.Start()
		err = c.run(ctx, func() error {
			if err := c.ldap.StartTLS(s.tls); err != nil {
				return fmt.Errorf("StartTLS: %w", s.mixedUp(judge(err)))
			}
			state, _ := c.ldap.TLSConnectionState()
			detail = describe(state)
			return nil
		})
		return detail, err
	})
	if err != nil {
		if c.ldap != nil {
			c.close()
		} else {
			nc.Close()
		}
		return nil, err
	}
	return c, nil
}

// encrypt begins a connection of ldaps.
func (c *conn) encrypt(ctx context.Context) (string, error) {
	t := tls.Client(c.net, c.server.tls)
	if err := t.HandshakeContext(ctx); err != nil {
		return "", err
	}
	c.ldap = goldap.NewConn(t, true)
	c.ldap.Start()
	return describe(t.ConnectionState()), nil
}

func describe(state tls.ConnectionState) string {
	text := tls.VersionName(state.Version)
	if len(state.PeerCertificates) > 0 {
		crt := state.PeerCertificates[0]
		name := strings.Join(crt.DNSNames, ", ") // many have no subject
		for _, ip := range crt.IPAddresses {
			name = cmp.Or(name, ip.String())
		}
		name = cmp.Or(name, crt.Subject.String())
		text += ", certificate of " + name + " until " + crt.NotAfter.UTC().Format(time.DateOnly)
	}
	return text
}

// servers are asked in turn.
type servers []*server

// open returns a connection to the first server that is there and lets prepare make it ready.
func (all servers) open(ctx context.Context, l *look, prepare func(*conn) error) (*conn, error) {
	var errs []error
	for i, s := range all.order(time.Now()) {
		c, err := s.open(ctx, l, prepare, len(all)-i)
		if err == nil {
			s.works()
			return c, nil
		}
		s.fail(ctx, err)
		errs = append(errs, fmt.Errorf("%s: %w", s.url, err))
		if ctx.Err() != nil {
			break
		}
	}
	return nil, errors.Join(errs...)
}

// open leaves as much time for each of the servers that may be asked still.
func (s *server) open(ctx context.Context, l *look, prepare func(*conn) error, left int) (*conn, error) {
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)/time.Duration(left))
		defer cancel()
	}
	c, err := s.connect(ctx, l)
	if err != nil {
		return nil, err
	}
	if err := c.run(ctx, func() error { return prepare(c) }); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// fail notes that the server did not do its work; a caller who went away is not its fault.
func (s *server) fail(ctx context.Context, err error) {
	if errors.Is(ctx.Err(), context.Canceled) {
		return
	}
	now := time.Now()
	if s.failed.Swap(now.UnixNano()) != 0 {
		return
	}
	s.standing.Store(&standing{now, reasonOf(err)})
	if s.trouble != nil {
		s.trouble(s.url, err)
	}
}

func (s *server) works() {
	failed := s.failed.Swap(0) != 0
	if failed || s.standing.Load() == nil {
		s.standing.Store(&standing{since: time.Now()})
	}
	if failed && s.trouble != nil {
		s.trouble(s.url, nil)
	}
}

// order puts the servers that failed lately behind the others.
func (all servers) order(now time.Time) servers {
	var good, bad servers
	for _, s := range all {
		if now.Sub(time.Unix(0, s.failed.Load())) < penalty {
			bad = append(bad, s)
		} else {
			good = append(good, s)
		}
	}
	return append(good, bad...)
}
