package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/svc-gateway/svc/agents/sandbox/wire"
	"github.com/svc-gateway/svc/internal/reach"
)

// Egress is a connection that a program asked the proxy for.
type Egress struct {
	Method  string // CONNECT, or that of a plain request
	Host    string // host:port, as the program named it
	Address string // ip:port that the proxy connected to; empty when it did not
	Refused string // why the destination is not allowed; empty when it is
}

// How long the proxy waits for others.
const (
	proxyDial   = 10 * time.Second
	proxyHeader = 10 * time.Second
)

// proxy is the way out of one sandbox: an HTTP proxy on a unix socket of its own.
type proxy struct {
	path   string
	tell   func(Egress)
	reach  func(netip.Addr) error
	server *http.Server
	ctx    context.Context // of all connections
	cancel context.CancelFunc
	all    sync.WaitGroup
}

// listen starts the proxy of a run.
func (b *Box) listen(id string, tell func(Egress)) (*proxy, error) {
	p := &proxy{path: b.path(id), tell: tell, reach: b.reach}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: p.path, Net: "unix"})
	if err == nil {
		err = os.Chmod(p.path, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("starting the proxy: %w", err)
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.server = &http.Server{
		Handler: p, ReadHeaderTimeout: proxyHeader, MaxHeaderBytes: 64 << 10,
		ErrorLog: log.New(io.Discard, "", 0), // what a program in the sandbox gets wrong concerns nobody else
	}
	p.all.Go(func() { _ = p.server.Serve(l) })
	return p, nil
}

// close ends the proxy and waits for its connections to end.
func (p *proxy) close() {
	p.cancel()
	_ = p.server.Close() // removes the socket
	p.all.Wait()
}

// ServeHTTP answers CONNECT with a tunnel and passes on plain requests to http servers.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.all.Add(1)
	defer p.all.Done()
	host := r.URL.Host
	if r.Method == http.MethodConnect {
		host = r.Host
	} else if r.URL.Scheme != "http" || host == "" {
		http.Error(w, "this is a proxy: ask for an http URL, or use CONNECT", http.StatusBadRequest)
		return
	}
	e := &Egress{Method: r.Method, Host: host}
	if _, _, err := net.SplitHostPort(host); err != nil {
		e.Host = net.JoinHostPort(strings.Trim(host, "[]"), "80")
	}
	if r.Method == http.MethodConnect {
		p.tunnel(w, e)
	} else {
		p.pass(w, r, e)
	}
	if p.tell != nil {
		p.tell(*e)
	}
}

// dial connects to a destination if its address, after the name was looked up, is allowed.
func (p *proxy) dial(ctx context.Context, e *Egress) (net.Conn, error) {
	d := net.Dialer{Timeout: proxyDial, ControlContext: reach.Control(p.reach)}
	conn, err := d.DialContext(ctx, "tcp", e.Host)
	if errors.Is(err, reach.ErrRefused) {
		e.Refused = "its address is not public"
	}
	if err != nil {
		return nil, err
	}
	e.Address = conn.RemoteAddr().String()
	return conn, nil
}

// fail answers a request that got no connection. What the network says stays here.
func fail(w http.ResponseWriter, e *Egress) {
	if e.Refused != "" {
		http.Error(w, e.Host+" cannot be reached from the sandbox: "+e.Refused, http.StatusForbidden)
		return
	}
	http.Error(w, e.Host+" cannot be reached", http.StatusBadGateway)
}

func (p *proxy) tunnel(w http.ResponseWriter, e *Egress) {
	server, err := p.dial(p.ctx, e)
	if err != nil {
		fail(w, e)
		return
	}
	defer func() { _ = server.Close() }()
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = client.Close() }()
	if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	stop := context.AfterFunc(p.ctx, func() { _ = client.Close(); _ = server.Close() })
	defer stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(server, buffered)
		closeWrite(server)
	}()
	_, _ = io.Copy(client, server)
	closeWrite(client)
	<-done
}

func closeWrite(c net.Conn) {
	if w, ok := c.(interface{ CloseWrite() error }); ok {
		_ = w.CloseWrite()
	}
}

func (p *proxy) pass(w http.ResponseWriter, r *http.Request, e *Egress) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	onward := &httputil.ReverseProxy{
		Rewrite: func(pr *httputil.ProxyRequest) { pr.Out.Host = r.Host },
		Transport: &http.Transport{
			DisableKeepAlives: true, // each request is a connection, which is checked and told of
			DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return p.dial(ctx, e) },
		},
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, _ error) { fail(w, e) },
		ErrorLog:      log.New(io.Discard, "", 0),
		FlushInterval: -1,
	}
	onward.ServeHTTP(w, r.WithContext(ctx))
}

// proxyVariables are what programs look for a proxy in, unless they are set already.
func proxyVariables(env []string) (more []string) {
	value := fmt.Sprintf("http://127.0.0.1:%d", wire.ProxyPort)
	for _, name := range []string{"http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"} {
		if !slices.ContainsFunc(env, func(e string) bool { return strings.HasPrefix(e, name+"=") }) {
			more = append(more, name+"="+value)
		}
	}
	return more
}
