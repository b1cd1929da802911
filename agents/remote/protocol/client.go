package protocol

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
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/svc-gateway/svc/internal/reach"
)

// What is read of a server at most.
const (
	maxAnswer = 4 << 20  // bytes of a JSON document
	maxHeader = 64 << 10 // bytes of the header of an answer
)

// Config says which server is asked, and how. URL is required; another zero value is the default.
type Config struct {
	// URL is the address of the server; what paths begin with may stand in it.
	URL string
	// Key is sent as x-api-key. Default: none.
	Key string
	// Networks are not public and may be reached nevertheless; a network of one address opens that one also
	// when it is this host's. Default: none.
	Networks []netip.Prefix
	// Roots sign the certificates of the server. Default: those of the system.
	Roots *x509.CertPool
	// Timeout is how long a request may take, except for a stream, and how long a stream may be silent.
	// Default: 20s.
	Timeout time.Duration
}

// Client asks one server. Make it with [New].
type Client struct {
	c    Config
	base string
	http *http.Client
}

// New returns a client. It asks for nothing yet.
func New(c Config) (*Client, error) {
	if err := reach.CheckEndpoint(c.URL, c.Key != ""); err != nil {
		return nil, err
	}
	if c.Timeout <= 0 {
		c.Timeout = 20 * time.Second
	}
	rule := reach.Rule{Networks: c.Networks, Local: true}
	d := net.Dialer{Timeout: c.Timeout, ControlContext: reach.Control(rule.Check)}
	return &Client{c: c, base: strings.TrimRight(c.URL, "/"), http: &http.Client{
		Transport: &http.Transport{
			DialContext: d.DialContext, TLSClientConfig: &tls.Config{RootCAs: c.Roots, MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout: c.Timeout, ResponseHeaderTimeout: c.Timeout, MaxResponseHeaderBytes: maxHeader,
			DisableCompression: true, MaxIdleConnsPerHost: 2, IdleConnTimeout: time.Minute,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Close lets go of connections that nobody uses.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Error is why a server did not do what it was asked for.
type Error struct {
	Status int // of HTTP; 0: there was no answer
	Reason string
}

func (e *Error) Error() string { return e.Reason }

// Unclear reports whether the server may have done what it was asked for nevertheless.
func (e *Error) Unclear() bool { return e.Status == 0 || e.Status >= 500 || e.Status/100 == 2 }

// Gone reports whether an error says that something is not there.
func Gone(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Status == http.StatusNotFound
}

// send asks for something. The caller closes the body.
func (c *Client) send(ctx context.Context, method, path string, body any, header http.Header) (*http.Response, error) {
	var doc io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("encoding a request: %w", err)
		}
		doc = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, doc)
	if err != nil {
		return nil, errors.New("the request cannot be made")
	}
	for name, values := range header {
		r.Header[name] = values
	}
	r.Header.Set("User-Agent", "svc")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.c.Key != "" {
		r.Header.Set("X-Api-Key", c.c.Key)
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, c.unanswered(ctx, err)
	}
	if resp.StatusCode/100 != 2 {
		_ = resp.Body.Close()
		return nil, refused(resp.StatusCode)
	}
	return resp, nil
}

// call asks for something and reads the answer into out; nil: nothing of it is looked at.
func (c *Client) call(ctx context.Context, method, path string, body, out any, header http.Header) error {
	ctx, cancel := context.WithTimeout(ctx, c.c.Timeout)
	defer cancel()
	resp, err := c.send(ctx, method, path, body, header)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return &Error{0, "the answer of the server broke off"}
	case len(text) > maxAnswer:
		return &Error{resp.StatusCode, fmt.Sprintf("the server answers with more than %d MiB", maxAnswer>>20)}
	case out == nil:
		return nil
	}
	if err := json.Unmarshal(text, out); err != nil {
		return &Error{resp.StatusCode, "the server does not answer as an agent server: what it sends is not the JSON that belongs here"}
	}
	return nil
}

// refused is the error for a status.
func refused(status int) error {
	reason := fmt.Sprintf("the server answers %d", status)
	switch {
	case status/100 == 3:
		reason = fmt.Sprintf("the server redirects (%d), which is not followed: set url to the address that it leads to", status)
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		reason = fmt.Sprintf("the server does not permit it (%d): look at the key that api_key_env names, and what it may do there", status)
	case status == http.StatusNotFound:
		reason = "the server does not know it (404)"
	case status == http.StatusTooManyRequests:
		reason = "the server has too much to do (429)"
	}
	return &Error{status, reason}
}

// unanswered is the error for a request without an answer, in words of ours.
func (c *Client) unanswered(ctx context.Context, err error) error {
	u, _ := url.Parse(c.base) // New has read it
	var dns *net.DNSError
	var cert *tls.CertificateVerificationError
	reason := u.Host + " does not answer as an HTTP server"
	switch {
	case errors.Is(err, reach.ErrRefused):
		reason = "the address of " + u.Host + " is not public: list it in reach"
	case errors.As(err, &cert):
		reason = "the certificate of " + u.Host + " is not one that is trusted here: set ca_file to the file of its authority"
	case errors.As(err, &dns):
		reason = "the name of " + u.Hostname() + " cannot be looked up"
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		reason = u.Host + " took too long to answer"
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return &Error{0, reason}
}
