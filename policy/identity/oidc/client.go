package oidc

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/svc-gateway/svc/internal/certpool"
	"github.com/svc-gateway/svc/internal/settings"
)

// Whoever waits for a provider waits no longer than this.
const (
	dialTimeout    = 2 * time.Second
	answerTimeout  = 4 * time.Second // until the answer begins
	requestTimeout = 6 * time.Second // for one request, to the end of the answer
)

// What is read of an answer. A set of keys is a few kilobytes, the text of an error is logged.
const (
	maxAnswer = 1 << 20
	maxError  = 2 << 10
)

// newClient returns the client that talks to one provider. It follows no redirects: they could
// lead a code or a secret elsewhere, and an issuer's documents have fixed places.
func newClient(c settings.Issuer) (*http.Client, error) {
	roots, err := certpool.Read(c.CAFile)
	if err != nil {
		return nil, fmt.Errorf("ca_file: %w", err)
	}
	t := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSHandshakeTimeout:   dialTimeout,
		ResponseHeaderTimeout: answerTimeout,
		ForceAttemptHTTP2:     true,
		MaxConnsPerHost:       16,
		IdleConnTimeout:       time.Minute,
		TLSClientConfig:       &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots},
	}
	return &http.Client{Transport: bounded{t}, Timeout: requestTimeout, CheckRedirect: refuseRedirect}, nil
}

func refuseRedirect(r *http.Request, via []*http.Request) error {
	return fmt.Errorf("%s redirects to %s, and redirects are not followed", via[0].URL.Redacted(), r.URL.Redacted())
}

var errTooLarge = errors.New("the answer is larger than 1 MiB")

// bounded is a transport whose answers have an end.
type bounded struct{ next http.RoundTripper }

func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= http.StatusBadRequest {
		resp.Body = body{io.LimitReader(resp.Body, maxError), resp.Body}
	} else {
		resp.Body = body{&strictReader{resp.Body, maxAnswer}, resp.Body}
	}
	return resp, nil
}

// CloseIdleConnections is what [http.Client] calls.
func (b bounded) CloseIdleConnections() { (&http.Client{Transport: b.next}).CloseIdleConnections() }

type body struct {
	io.Reader
	io.Closer
}

// strictReader fails, instead of ending, where too much comes.
type strictReader struct {
	r    io.Reader
	left int
}

func (s *strictReader) Read(p []byte) (int, error) {
	if s.left < 0 {
		return 0, errTooLarge
	}
	n, err := s.r.Read(p[:min(len(p), s.left+1)])
	if s.left -= n; s.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}
