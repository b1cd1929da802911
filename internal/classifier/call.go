package classifier

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"time"

	"github.com/svc-gateway/svc/internal/certpool"
	"github.com/svc-gateway/svc/internal/reach"
)

// maxAnswer is the longest answer that is read, in bytes.
const maxAnswer = 64 << 10

// anywhere is every network. A rule does not open with it what is link-local, nor the metadata of clouds.
var anywhere = reach.Rule{Own: true, Networks: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}}

// newClient returns a client that follows no redirect and uses no proxy.
func newClient(c Config) (*http.Client, error) {
	pool, err := certpool.Read(c.CAFile)
	if err != nil {
		return nil, fmt.Errorf("ca_file: %w", err)
	}
	d := net.Dialer{Timeout: c.Timeout, ControlContext: reach.Control(anywhere.Check)}
	return &http.Client{
		Transport: &http.Transport{
			DialContext: d.DialContext, TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
			ForceAttemptHTTP2: true, DisableCompression: true, MaxIdleConnsPerHost: c.Calls, IdleConnTimeout: time.Minute,
			MaxResponseHeaderBytes: maxAnswer,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// call sends one piece, when there is a place, and reads the answer.
func (c *Classifier) call(ctx context.Context, piece string) ([]verdict, *Error) {
	ctx, cancel := context.WithTimeout(ctx, c.c.Timeout)
	defer cancel()
	select {
	case c.places <- struct{}{}:
		defer func() { <-c.places }()
	default:
		select {
		case c.places <- struct{}{}:
			defer func() { <-c.places }()
		case <-ctx.Done():
			return nil, &Error{Result: ResultBusy, err: errBusy}
		}
	}
	body, err := c.c.request(piece)
	if err != nil {
		return nil, &Error{Result: ResultFailed, err: err}
	}
	answer, failure := c.post(ctx, body)
	if failure != nil {
		return nil, failure
	}
	verdicts, err := c.c.read(answer)
	if err != nil {
		return nil, &Error{Result: ResultAnswer, err: err}
	}
	return verdicts, nil
}

// post sends a request and returns what it is answered with.
func (c *Classifier) post(ctx context.Context, body []byte) ([]byte, *Error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.c.URL, bytes.NewReader(body))
	if err != nil {
		return nil, &Error{Result: ResultFailed, err: errors.New("the address cannot be used")}
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", "svc")
	if c.c.Key != "" {
		r.Header.Set("Authorization", "Bearer "+string(c.c.Key))
	}
	r.Header["X-Idempotency-Key"] = nil // not sent: a call may be repeated when a connection that was idle turns out to be closed
	resp, err := c.client.Do(r)
	if err != nil {
		return nil, failure(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxAnswer)) // so that the connection can be used again
		return nil, &Error{Result: ResultStatus, err: fmt.Errorf("the server answers %d", resp.StatusCode), wait: retryAfter(resp)}
	}
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, failure(err)
	case len(answer) > maxAnswer:
		return nil, &Error{Result: ResultAnswer, err: fmt.Errorf("the answer has more than %d bytes", maxAnswer)}
	}
	return answer, nil
}

// failure is the error of a connection, without the address.
func failure(err error) *Error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &Error{Result: ResultTimeout, err: errors.New("no answer in time")}
	}
	return &Error{Result: ResultFailed, err: err}
}

// retryAfter is how long a server that has too much to do asks to be left alone (RFC 9110, 10.2.3).
func retryAfter(resp *http.Response) time.Duration {
	if resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode != http.StatusServiceUnavailable {
		return 0
	}
	value := resp.Header.Get("Retry-After")
	if n, err := strconv.Atoi(value); err == nil && n > 0 {
		return min(time.Duration(min(n, 1<<20))*time.Second, maxPause)
	}
	if at, err := http.ParseTime(value); err == nil {
		return time.Until(at)
	}
	return 0
}
