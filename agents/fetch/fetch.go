package fetch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/svc-gateway/svc/internal/reach"
	"github.com/svc-gateway/svc/scanner/redact"
)

// Config says what may be fetched. Without Hosts, nothing is. The zero value of another field is its
// default.
type Config struct {
	// Hosts are the servers that may be asked.
	Hosts reach.Hosts
	// Networks are not public and may be reached nevertheless; a network of one address opens that one
	// also when it is this host's. Default: none.
	Networks []netip.Prefix
	// Size is how much text of an answer is kept, in bytes. Default: 100 KiB.
	Size int
	// Timeout is how long a request may take, with its redirects and its body. Default: 20s.
	Timeout time.Duration
	// Credentials are those that the servers know the gateway by. Default: none.
	Credentials []Credential
	// Secrets are values that are redacted in answers and refused in requests, beside what looks like a
	// credential. Default: none.
	Secrets *redact.Secrets
	// Roots sign the certificates of servers. Default: those of the system.
	Roots *x509.CertPool
	// Resolver looks up names. Default: that of the system.
	Resolver *net.Resolver
}

const maxRedirects = 5

const maxHeader = 64 << 10 // bytes of the header of an answer

// Client gets documents. Make it with [New].
type Client struct{ c Config }

// New returns a client.
func New(c Config) *Client {
	if c.Size == 0 {
		c.Size = 100 << 10
	}
	if c.Timeout == 0 {
		c.Timeout = 20 * time.Second
	}
	return &Client{c}
}

// Hop is one request of those that led to an answer.
type Hop struct {
	Method  string
	URL     string // as it was asked for
	Host    string // host:port
	Address string // ip:port that was connected to; empty when none was
	Refused string // why it was not connected to an address
	Status  int    // of the answer; 0 without one
}

// ErrNotAllowed is in the chain of the error for a URL that must not be asked for.
var ErrNotAllowed = errors.New("this may not be fetched")

// ErrUnknown is in the chain of the error for a request that writes and that was not answered: the server may
// have carried it out.
var ErrUnknown = errors.New("the outcome is unknown: the request was sent, and no answer came")

// Check reads the URL of a call and says why it must not be asked for. It looks at no address. A
// credential in the URL, which would be told to the server, is refused.
func (c *Client) Check(text string) (*url.URL, error) {
	if len(c.c.Hosts) == 0 {
		return nil, fmt.Errorf("%w: no hosts are listed, an administrator lists them with the setting fetch.hosts", ErrNotAllowed)
	}
	if c.c.Secrets.Redact(text) != text {
		return nil, fmt.Errorf("%w: the URL holds a credential", ErrNotAllowed)
	}
	return c.listed(text)
}

func (c *Client) listed(text string) (*url.URL, error) {
	u, err := reach.ParseURL(text)
	if err == nil {
		err = c.c.Hosts.Check(u)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotAllowed, err)
	}
	return u, nil
}

// Get gets a document. The hops stand in the answer also when there is an error. An answer with any
// status is none.
func (c *Client) Get(ctx context.Context, text string) (Answer, error) {
	return c.ask(ctx, Request{Method: http.MethodGet, URL: text}, false)
}

// Do makes a request, with the credentials of its server. It is made once: one that writes is not repeated, and
// where its answer leads is told and not followed. See [Client.Get] for the answer.
func (c *Client) Do(ctx context.Context, r Request) (Answer, error) {
	if err := c.CheckRequest(r); err != nil {
		return Answer{}, err
	}
	a, err := c.ask(ctx, r, true)
	late := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
	if err != nil && r.Writes() && a.sent && (a.Status == 0 || late) {
		err = fmt.Errorf("%w; look at the server before anything is sent again: %w", ErrUnknown, err)
	}
	return a, err
}

// ask makes a request and those that it leads to, with credentials if they are wanted. They are for the server of
// the first request: an answer that leads to another one does not choose what is sent there.
func (c *Client) ask(ctx context.Context, r Request, known bool) (Answer, error) {
	var a Answer
	ctx, cancel := context.WithTimeout(ctx, c.c.Timeout)
	defer cancel()
	u, err := c.Check(r.URL)
	for err == nil {
		var with []Credential
		if known {
			with = c.credentials(u)
		}
		var next string
		if next, err = c.hop(ctx, u, r, with, &a); err != nil || next == "" {
			break
		}
		from := Origin(u)
		if u, err = c.redirected(u, next, a.Hops); err != nil {
			err = fmt.Errorf("%s redirects to where it may not: %w", a.Hops[len(a.Hops)-1].Host, err)
			break
		}
		known = known && Origin(u) == from
	}
	if ctx.Err() != nil { // also without an error: a server that sees its client leave may end an answer early
		return a, fmt.Errorf("fetching took too long: %w", ctx.Err())
	}
	return a, err
}

// redirected checks where an answer leads.
func (c *Client) redirected(from *url.URL, location string, before []Hop) (*url.URL, error) {
	if len(before) > maxRedirects {
		return nil, fmt.Errorf("%w: there are more than %d redirects", ErrNotAllowed, maxRedirects)
	}
	if strings.Contains(location, `\`) {
		return nil, fmt.Errorf("%w: there is a backslash in the URL", ErrNotAllowed)
	}
	ref, err := url.Parse(location)
	if err != nil {
		return nil, fmt.Errorf("%w: the URL cannot be read", ErrNotAllowed)
	}
	u, err := c.listed(from.ResolveReference(ref).String())
	if err == nil && slices.ContainsFunc(before, func(h Hop) bool { return h.URL == u.String() }) {
		err = fmt.Errorf("%w: it leads back to where it came from", ErrNotAllowed)
	}
	return u, err
}

// hop makes one request and reads the answer. next is where the answer leads, empty when it is the last.
func (c *Client) hop(ctx context.Context, u *url.URL, request Request, with []Credential, a *Answer) (next string, err error) {
	h := Hop{Method: request.Method, URL: u.String(), Host: u.Host}
	if u.Port() == "" {
		h.Host = net.JoinHostPort(u.Hostname(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	}
	var address atomic.Value // set by the dialer, which may go on when its request has ended
	var sent atomic.Bool     // set when there is a connection to write to
	defer func() {
		h.Address, _ = address.Load().(string)
		a.sent = sent.Load()
		a.Hops = append(a.Hops, h)
	}()
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { sent.Store(true) }})
	r, err := newRequest(traced, h.URL, request, with)
	if err != nil {
		return "", err
	}
	transport := c.transport(&address, u.Scheme == "http" && len(with) > 0)
	defer transport.CloseIdleConnections()
	resp, err := transport.RoundTrip(r)
	if err != nil {
		if errors.Is(err, reach.ErrRefused) {
			h.Refused = "its address is not allowed"
		}
		if errors.Is(err, errClear) {
			return "", fmt.Errorf("%w, and %s is at one that is", errClear, h.Host)
		}
		return "", plain(h.Host, err)
	}
	defer func() { _ = resp.Body.Close() }()
	h.Status = resp.StatusCode
	if resp.StatusCode < 200 {
		return "", fmt.Errorf("%s answers with the status %d, which is no end", h.Host, resp.StatusCode)
	}
	if location := resp.Header.Get("Location"); location != "" && !request.Writes() && slices.Contains([]int{301, 302, 303, 307, 308}, resp.StatusCode) {
		return location, nil
	}
	return "", a.read(resp, c.c.Size, c.c.Secrets)
}

// transport makes the connection of one request, and notes its address. clear says that a credential goes over it
// for everybody to read.
func (c *Client) transport(address *atomic.Value, clear bool) *http.Transport {
	rule := reach.Rule{Networks: c.c.Networks, Local: true}
	check := func(a netip.Addr) error {
		if clear {
			if err := inClear(a); err != nil {
				return err
			}
		}
		return rule.Check(a)
	}
	d := net.Dialer{Resolver: c.c.Resolver, ControlContext: reach.Control(check)}
	return &http.Transport{
		DialContext: func(ctx context.Context, network, host string) (net.Conn, error) {
			conn, err := d.DialContext(ctx, network, host)
			if err == nil {
				address.Store(conn.RemoteAddr().String())
			}
			return conn, err
		},
		TLSClientConfig: &tls.Config{RootCAs: c.c.Roots, MinVersion: tls.VersionTLS12},

		DisableKeepAlives:      true, // each request is a connection, whose address is looked at
		DisableCompression:     true, // it is unpacked here, within limits
		MaxResponseHeaderBytes: maxHeader,
	}
}

// plain says why a server did not answer, without the words of anybody else.
func plain(host string, err error) error {
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var bad *tls.CertificateVerificationError
	var dns *net.DNSError
	switch {
	case errors.Is(err, reach.ErrRefused):
		return fmt.Errorf("%w: the address of %s is not public, and not listed", ErrNotAllowed, host)
	case errors.As(err, &name):
		return fmt.Errorf("the certificate of %s is for other hosts", host)
	case errors.As(err, &unknown):
		return fmt.Errorf("the certificate of %s is signed by nobody who is trusted here", host)
	case errors.As(err, &invalid), errors.As(err, &bad):
		return fmt.Errorf("the certificate of %s is not valid", host)
	case errors.As(err, &dns):
		return fmt.Errorf("the name of %s cannot be looked up", host)
	}
	return fmt.Errorf("%s does not answer as an HTTP server", host)
}
