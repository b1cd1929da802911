package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svc-gateway/svc/caddymodule/app/cli"
	"github.com/svc-gateway/svc/internal/problem"
	"github.com/svc-gateway/svc/policy"
)

// routes are the handlers that one app has on the control socket.
type routes struct {
	mu       sync.Mutex
	handlers map[string]http.Handler
	mux      atomic.Pointer[http.ServeMux]
}

func newRoutes() *routes {
	r := &routes{handlers: map[string]http.Handler{}}
	r.mux.Store(http.NewServeMux())
	return r
}

// handle adds or replaces a handler. A ServeMux cannot replace one, so it is made anew.
func (r *routes) handle(pattern string, h http.Handler) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.handlers[pattern] = h
	mux := http.NewServeMux()
	for p, h := range r.handlers {
		mux.Handle(p, h)
	}
	r.mux.Store(mux)
}

// server answers on the control socket. It outlives the apps; the newest of them answers.
type server struct {
	audit auditor
	mu    sync.Mutex
	apps  []*routes
	http  *http.Server
	ln    net.Listener
	done  chan struct{} // closed when Serve has returned
}

func newServer(log auditor) *server {
	s := &server{audit: log, done: make(chan struct{})}
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, ConnContext: withPeer}
	return s
}

func (s *server) push(r *routes) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.apps = append(s.apps, r)
}

func (s *server) remove(r *routes) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.apps = slices.DeleteFunc(s.apps, func(o *routes) bool { return o == r })
}

func (s *server) current() *routes {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.apps) == 0 {
		return nil
	}
	return s.apps[len(s.apps)-1]
}

// listen opens the socket. The data folder's lock is held, so a socket file that is there is
// a dead one.
func (s *server) listen(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the old control socket: %w", err)
	}
	ln, err := net.Listen("unix", path)
	if err != nil {
		return fmt.Errorf("opening the control socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return errors.Join(fmt.Errorf("opening the control socket: %w", err), ln.Close())
	}
	s.ln = ln
	go func() {
		defer close(s.done)
		_ = s.http.Serve(ln) // always an error, and that of a closed server says nothing
	}()
	return nil
}

// close ends the server; requests that are being answered get a short while.
func (s *server) close() error {
	if s.ln == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close()
	}
	<-s.done
	return err
}

// ServeHTTP lets root and the service's own user in, as an admin, and accounts for what they ask.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rec := newRecorder(w, r, s.audit)
	rec.unanswered = http.StatusInternalServerError // should the handler panic
	defer rec.finish()
	s.answer(rec, r)
	rec.unanswered = http.StatusOK
}

func (s *server) answer(rec *recorder, r *http.Request) {
	p, err := localPrincipal(r.Context())
	rec.principal = p
	if err != nil {
		rec.refuse(r, problem.Problem{
			Status: http.StatusForbidden, Code: "not_the_service_user",
			Detail: err.Error() + ": use " + cli.Command("login"),
		})
		return
	}
	rec.silent = isPoll(r)
	if err := s.audit.Healthy(r.Context()); err != nil && !rec.silent {
		rec.Header().Set("Retry-After", "5")
		rec.refuse(r, problem.Problem{
			Status: http.StatusServiceUnavailable, Code: unavailable,
			Detail: "the audit log cannot be written, and nothing is done without it; try again later",
		})
		return
	}
	app := s.current()
	if app == nil {
		rec.refuse(r, problem.Problem{
			Status: http.StatusServiceUnavailable, Code: cli.NotReady,
			Detail: "The service is starting, or the running configuration does not use the svc app.",
		})
		return
	}
	app.mux.Load().ServeHTTP(rec, r.WithContext(policy.WithPrincipal(r.Context(), p)))
}
