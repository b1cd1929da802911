package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"

	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/internal/settings"
)

// ErrNotRunning means that nobody answers on the control socket.
var ErrNotRunning = errors.New("the service is not running")

// NotReady is the code of the answer while the process is there and no configuration with the
// app svc runs in it, as when it starts.
const NotReady = "not_ready"

// ListenEnv are the variables that say where the built-in Caddyfile listens.
var ListenEnv = []string{"SVC_HOST", "SVC_PORT"}

// Status is what a running service says of itself: GET /status on the control socket.
type Status struct {
	PID       int       `json:"pid"`
	Addresses []string  `json:"addresses"` // base URLs as configured, the host may be 0.0.0.0
	Version   string    `json:"version"`
	Harness   string    `json:"harness"`
	Started   time.Time `json:"started"`
	Home      string    `json:"data_folder"`
	AuthMode  []string  `json:"auth_mode"`
	Stopping  bool      `json:"stopping,omitempty"`

	// Environment is what the process has of [ListenEnv].
	Environment map[string]string `json:"environment,omitempty"`
}

// URL is an address at which this host reaches the service, or "" when it listens nowhere.
func (s Status) URL() string {
	if len(s.Addresses) == 0 {
		return ""
	}
	return Reachable(s.Addresses[0])
}

// Reachable replaces the host of a base URL that stands for all addresses by the loopback one.
func Reachable(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return base
	}
	if ip := net.ParseIP(u.Hostname()); ip != nil && ip.IsUnspecified() {
		host := "127.0.0.1"
		if ip.To4() == nil {
			host = "::1"
		}
		u.Host = net.JoinHostPort(host, u.Port())
	}
	return u.String()
}

// Client speaks JSON over HTTP with the control socket.
type Client struct{ transport *http.Transport }

// NewClient returns a client of the control socket of a data folder.
func NewClient(home settings.Home) *Client {
	return &Client{&http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", home.ControlSocket())
		},
	}}
}

// HTTP returns the client as a plain one, whatever host its URLs have.
func (c *Client) HTTP() *http.Client { return &http.Client{Transport: c.transport} }

// Status asks the service for its status; [ErrNotRunning] when there is none, or not yet.
func (c *Client) Status(ctx context.Context) (Status, error) {
	var s Status
	err := c.Do(ctx, http.MethodGet, "/status", nil, &s)
	if problem.HasCode(err, NotReady) {
		err = fmt.Errorf("%w: %w", ErrNotRunning, err)
	}
	return s, err
}

// Do sends in as JSON, unless it is nil, and reads the answer into out, unless it is nil. An
// answer that is not a success is a [problem.Problem].
func (c *Client) Do(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		doc, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("encoding the request: %w", err)
		}
		body = bytes.NewReader(doc)
	}
	resp, err := c.Send(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if out == nil {
		return nil
	}
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return fmt.Errorf("reading the service's answer: %w", err)
	}
	return nil
}

// Send sends a request with a JSON body, if any, and returns the response of a success; the
// caller closes its body.
func (c *Client) Send(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://localhost"+path, body)
	if err != nil {
		return nil, fmt.Errorf("making the request: %w", err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.transport.RoundTrip(req)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, errors.New("the service runs as another user: run the command as that user or root, or use " + Command("login"))
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return nil, ErrNotRunning
	case err != nil:
		return nil, fmt.Errorf("asking the service: %w", err)
	case resp.StatusCode/100 != 2:
		defer resp.Body.Close()
		return nil, problem.Parse(resp)
	}
	return resp, nil
}
