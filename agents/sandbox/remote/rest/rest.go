// Package rest speaks to the HTTP APIs of providers of sandboxes.
//
//	c, err := rest.New(rest.Config{Provider: "daytona", URL: base, Key: key})
//	err = c.JSON(ctx, rest.Call{What: "creating a sandbox", Method: "POST", Path: "/sandbox"}, in, &out)
//
// The key goes to the address of the Config only, or to one that [Client.Trusts]. A redirect is an error.
// Answers are read up to a limit. An answer of 429 is waited out as long as its Retry-After and the
// context allow. A request that changes nothing when it comes twice is repeated when the connection is
// lost; of the others nobody knows then whether they have arrived, which the method Lost of the error reports.
//
// The text of an error names the provider, what was being done and the status, never what the server
// wrote: that is in its method Says, for the log of this service.
//
// A Client is safe for concurrent use.
package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/svc-gateway/svc/internal/plaintext"
	"github.com/svc-gateway/svc/internal/reach"
)

// Config says where an API is.
type Config struct {
	Provider string // its name in messages and settings
	URL      string // https, or http to this host
	Key      string // bearer token
	// Pause is how long to wait before a request is repeated the first time, where the server does not
	// say. Default: 500ms.
	Pause time.Duration
}

// Client speaks to one API.
type Client struct {
	provider string
	base     *url.URL
	key      string
	pause    time.Duration
	http     *http.Client
}

// maxAnswer is how much of an answer is read unless a call says otherwise.
const maxAnswer = 4 << 20

// attempts is how often a request is sent.
const attempts = 4

// New returns a client. It does not connect.
func New(c Config) (*Client, error) {
	base, err := url.Parse(strings.TrimRight(c.URL, "/"))
	if err != nil || base.Host == "" || !secure(base) {
		return nil, fmt.Errorf("sandbox.%s_url: this is not an https address; plain http is for servers on this host", c.Provider)
	}
	if c.Pause == 0 {
		c.Pause = 500 * time.Millisecond
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression = true // the limit is for what is read
	return &Client{c.Provider, base, c.Key, c.Pause, &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Close ends the connections that wait for another request.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// secure reports whether a key may be sent to an address.
func secure(u *url.URL) bool {
	return u.Scheme == "https" || u.Scheme == "http" && reach.Loopback(u.Hostname())
}

// Trusts returns the address that the API names as another part of itself, if the key may be sent there:
// over TLS, or to this host where the API itself is on this host.
func (c *Client) Trusts(raw string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimRight(raw, "/"))
	if err != nil || u.Host == "" || u.User != nil || !secure(u) || reach.Loopback(u.Hostname()) && !reach.Loopback(c.base.Hostname()) {
		return nil, fmt.Errorf("%s: the server names an address that the key is not sent to: it must be https and not on this host", c.provider)
	}
	return u, nil
}

// Call is a request.
type Call struct {
	What   string // what it does, for messages: "creating a sandbox"
	Method string
	Path   string   // below the base
	Base   *url.URL // nil: that of the Client
	Query  url.Values
	// Body opens the body, again for each time that the request is sent. nil: none.
	Body func() (io.ReadCloser, error)
	Type string // of the body
	// Limit is how much of the answer is read; more is an error. Default: 4 MiB.
	Limit int64
	// Again says that sending the request twice does no more than sending it once.
	Again bool
}

// JSON sends in, unless it is nil, and decodes the answer into out, unless that is nil.
func (c *Client) JSON(ctx context.Context, call Call, in, out any) error {
	answer, err := c.Fetch(ctx, call, in)
	if err != nil || out == nil {
		return err
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return c.fail(call, errNotJSON)
	}
	return nil
}

// Fetch sends in, unless it is nil, and returns the body of the answer.
func (c *Client) Fetch(ctx context.Context, call Call, in any) ([]byte, error) {
	if in != nil {
		body, err := json.Marshal(in)
		if err != nil {
			return nil, c.fail(call, err)
		}
		call.Type = "application/json"
		call.Body = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	}
	return c.Do(ctx, call)
}

var errNotJSON = errors.New("the answer is not the JSON that this version of the service knows")

func (c *Client) fail(call Call, err error) error {
	return fmt.Errorf("%s: %s: %w", c.provider, call.What, err)
}

// Do sends a request and returns the body of the answer.
func (c *Client) Do(ctx context.Context, call Call) ([]byte, error) {
	pause := c.pause
	for n := 1; ; n++ {
		answer, wait, err := c.once(ctx, call)
		if err == nil {
			return answer, nil
		}
		if wait == 0 {
			wait = pause
		}
		if n == attempts || !c.repeat(ctx, call, err) {
			return nil, c.fail(call, err)
		}
		if until, ok := ctx.Deadline(); ok && time.Until(until) < wait {
			return nil, c.fail(call, fmt.Errorf("%w, and the time of the call is over before it may be repeated (in %s)", err, wait.Round(time.Second)))
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, c.fail(call, ctx.Err())
		}
		pause *= 2
	}
}

// repeat reports whether a request that failed is worth another try.
func (c *Client) repeat(ctx context.Context, call Call, err error) bool {
	if ctx.Err() != nil {
		return false
	}
	if s, ok := errors.AsType[*StatusError](err); ok {
		return s.Status == http.StatusTooManyRequests || call.Again && s.Status >= 500
	}
	_, lost := errors.AsType[*lostError](err)
	return call.Again && lost
}

// once sends a request once. wait is how long the server asks to wait before the next.
func (c *Client) once(ctx context.Context, call Call) (answer []byte, wait time.Duration, err error) {
	base := call.Base
	if base == nil {
		base = c.base
	}
	target := base.JoinPath(call.Path)
	target.RawQuery = call.Query.Encode()
	var body io.ReadCloser
	if call.Body != nil {
		if body, err = call.Body(); err != nil {
			return nil, 0, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, call.Method, target.String(), body)
	if err != nil {
		return nil, 0, errors.New("the address cannot be used")
	}
	if call.Type != "" {
		req.Header.Set("Content-Type", call.Type)
	}
	req.Header.Set("Authorization", "Bearer "+c.key)
	req.Header.Set("User-Agent", "svc")
	resp, err := c.http.Do(req)
	if err != nil {
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err // without the address
		}
		return nil, 0, &lostError{err}
	}
	defer func() { _ = resp.Body.Close() }()
	limit := call.Limit
	if limit == 0 || resp.StatusCode >= 300 {
		limit = maxAnswer
	}
	answer, err = io.ReadAll(io.LimitReader(resp.Body, limit+1))
	switch {
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		return nil, 0, errRedirect
	case resp.StatusCode < 200 || resp.StatusCode >= 400:
		return nil, retryAfter(resp.Header.Get("Retry-After")), c.status(resp.StatusCode, answer)
	case err != nil:
		return nil, 0, &lostError{err}
	case int64(len(answer)) > limit:
		return nil, 0, fmt.Errorf("the answer has more than %d bytes", limit)
	}
	return answer, 0, nil
}

var errRedirect = errors.New("the server answers with a redirect, which is not followed: set the address that it leads to")

// retryAfter reads the header of that name: seconds, or a time.
func retryAfter(v string) time.Duration {
	if s, err := time.ParseDuration(v + "s"); err == nil && s > 0 {
		return s
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}

// status makes an error of an answer.
func (c *Client) status(status int, answer []byte) error {
	var said struct {
		Message json.RawMessage `json:"message"`
	}
	text := answer
	if json.Unmarshal(answer, &said) == nil && len(said.Message) > 0 {
		text = said.Message
	}
	if c.key != "" {
		text = bytes.ReplaceAll(text, []byte(c.key), []byte("REDACTED")) // before it is cut
	}
	says := plaintext.Clean(plaintext.Whole(text[:min(len(text), 1024)]))
	return &StatusError{Status: status, says: says, key: "sandbox." + c.provider + "_key"}
}

// StatusError is an answer that says no.
type StatusError struct {
	Status int
	says   string
	key    string
}

// Says is what the server wrote, for the log.
func (e *StatusError) Says() string { return e.says }

// Lost reports whether the request may have had an effect: something went wrong within the server.
func (e *StatusError) Lost() bool { return e.Status >= 500 }

func (e *StatusError) Error() string {
	hint := ""
	if e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden {
		hint = ": does " + e.key + " allow this?"
	}
	return fmt.Sprintf("the server answered %d%s", e.Status, hint)
}

// Gone reports whether err is the answer that there is no such thing.
func Gone(err error) bool {
	s, ok := errors.AsType[*StatusError](err)
	return ok && (s.Status == http.StatusNotFound || s.Status == http.StatusGone)
}

// lostError is a request without an answer.
type lostError struct{ err error }

func (e *lostError) Error() string { return "the connection failed: " + e.err.Error() }
func (e *lostError) Unwrap() error { return e.err }

// Lost reports that nobody knows whether the request has had an effect.
func (e *lostError) Lost() bool { return true }
