package mcp

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// handshakeVersion is the newest revision that begins with a handshake. Some servers of older revisions
// do not answer what the newer ones begin with.
const handshakeVersion = "2025-11-25"

// session is a connection with a server.
type session struct {
	*sdk.ClientSession
	end func()       // closes it, with the program that it is with
	why func() error // what else is known of its end; nil: nothing
}

// connect begins a session. changed is called when a program says that its tools are others.
func (c *Config) connect(ctx context.Context, version string, changed func()) (*session, error) {
	transport, stop, why, err := c.transport()
	if err != nil {
		return nil, err
	}
	o := &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{}, MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true}, Logger: slog.New(slog.DiscardHandler),
	}
	if c.URL == "" { // another server is asked from time to time
		o.ToolListChangedHandler = func(context.Context, *sdk.ToolListChangedRequest) { changed() }
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "svc", Version: c.Version}, o)
	client.AddSendingMiddleware(uncached)
	cs, err := client.Connect(ctx, transport, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		stop()
		return nil, because(err, why)
	}
	return &session{ClientSession: cs, why: why, end: func() {
		closed := make(chan struct{})
		go func() { defer close(closed); _ = cs.Close() }()
		select {
		case <-closed:
		case <-time.After(endTime): // a call is under way, which the end of the transport ends
		}
		stop()
		<-closed
	}}, nil
}

// transport is the way to the server.
func (c *Config) transport() (t sdk.Transport, stop func(), why func() error, err error) {
	if c.URL == "" {
		p := c.start()
		return &p.IOTransport, p.stop, p.why, nil
	}
	u, err := url.Parse(c.URL)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("reading the address: %w", err)
	}
	next := &http.Transport{
		DialContext: (&net.Dialer{Timeout: connectTime}).DialContext, TLSHandshakeTimeout: connectTime, MaxResponseHeaderBytes: maxHeader,
		TLSClientConfig: &tls.Config{RootCAs: c.Roots}, ForceAttemptHTTP2: true, IdleConnTimeout: time.Minute, MaxIdleConnsPerHost: 2,
	}
	ctx, cancel := context.WithCancel(context.Background())
	header := http.Header{}
	switch {
	case c.Key == "":
	case c.KeyHeader == "" || http.CanonicalHeaderKey(c.KeyHeader) == "Authorization":
		header.Set("Authorization", "Bearer "+c.Key)
	default:
		header.Set(c.KeyHeader, c.Key)
	}
	host := &oneHost{ctx: ctx, next: next, host: u.Host, header: header}
	t = &sdk.StreamableClientTransport{
		Endpoint: c.URL, DisableStandaloneSSE: true, MaxRetries: -1, MaxEventSize: maxMessage,
		HTTPClient: &http.Client{
			Transport:     host,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	return t, func() { cancel(); next.CloseIdleConnections() }, host.why, nil
}

// uncached has lists asked for anew each time: a server may not say for how long it is not looked at.
func uncached(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		res, err := next(ctx, method, req)
		if list, ok := res.(*sdk.ListToolsResult); ok && list != nil {
			list.TTLMs = 0
		}
		return res, err
	}
}

// maxPages bounds a list: pages may be empty.
const maxPages = 16

// tools asks for all tools.
func (s *session) tools(ctx context.Context) ([]*sdk.Tool, error) {
	var all []*sdk.Tool
	params := &sdk.ListToolsParams{}
	for range maxPages {
		list, err := s.ListTools(ctx, params)
		if err != nil {
			return nil, because(err, s.why)
		}
		if all = append(all, list.Tools...); len(all) > maxTools {
			return nil, fmt.Errorf("it has more than %d tools", maxTools)
		}
		if list.NextCursor == "" {
			return all, nil
		}
		params = &sdk.ListToolsParams{Cursor: list.NextCursor}
	}
	return nil, fmt.Errorf("its list of tools has more than %d pages", maxPages)
}

// because adds to an error of a session how its program ended, or what its address answered.
func because(err error, why func() error) error {
	switch cause := why(); {
	case cause == nil:
		return err
	case err == nil:
		return cause
	default:
		return fmt.Errorf("%w: %w", cause, err)
	}
}
