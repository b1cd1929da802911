package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/zap"

	"github.com/svc-gateway/svc/agents/sandbox"
	"github.com/svc-gateway/svc/internal/health"
)

const (
	connectTime = 30 * time.Second // for a session to begin; programs of some servers start slowly
	listTime    = 15 * time.Second // for a list of tools
	probeEvery  = 30 * time.Second // how often a server is looked at
	calmTime    = time.Second      // between two lists that a server wants to be asked for
	firstRetry  = time.Second
	lastRetry   = 5 * time.Minute
)

// The words for why a server does not work, beside those of package health.
const (
	ReasonEnded   = "ended"   // its program ended, or could not be started
	ReasonFlood   = "flood"   // it sent too much
	ReasonSandbox = "sandbox" // there is no sandbox for its program
	ReasonList    = "list"    // its list of tools cannot be used

	ReasonPins = "pins" // what was approved of it cannot be read

	ReasonMalformed = "malformed" // it sent what is no message, or is nested too deep
)

// Server is a server that agents use. Get one with [Open].
type Server struct {
	c     Config
	file  string          // of the pins
	ctx   context.Context // of its goroutine
	stop  context.CancelFunc
	start sync.Once
	work  sync.WaitGroup
	look  chan struct{} // has the server looked at now

	begun chan struct{} // closed when it is known whether the server works
	begin sync.Once

	mu      sync.Mutex
	pins    pins
	loaded  bool        // they were read
	offered []candidate // as last listed
	known   bool        // it was listed
	session *session    // nil: it does not work, or has not begun
	reason  string      // why; empty while nothing is known
	since   time.Time
	watch   map[int]func()
	watched int
}

// Open returns a server, which is used from Start on. Its approved tools are known at once, unless the pins
// cannot be read: then it has none, and does not work.
func Open(c Config) *Server {
	if c.Timeout == 0 {
		c.Timeout = time.Minute
	}
	if c.Tell == nil {
		c.Tell = func(string) {}
	}
	if c.Offered == nil {
		c.Offered = func(Status) {}
	}
	c.conceal()
	s := &Server{c: c, file: filepath.Join(c.Pins, c.Name+".json"), look: make(chan struct{}, 1), begun: make(chan struct{}), since: time.Now(), watch: map[int]func(){}}
	_ = s.load() // Start tries again, and tells
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s
}

// load reads the pins, unless they were.
func (s *Server) load() error {
	s.mu.Lock()
	loaded := s.loaded
	s.mu.Unlock()
	if loaded {
		return nil
	}
	p, err := readPins(s.file)
	if err != nil {
		return fmt.Errorf("%w: %w", errPins, err)
	}
	s.change(func() { s.pins, s.loaded = p, true })
	return nil
}

// Start begins to use the server, if nobody has yet. It does not wait for it.
func (s *Server) Start() { s.start.Do(func() { s.work.Go(s.serve) }) }

// Name is what the server is called.
func (s *Server) Name() string { return s.c.Name }

// Close ends the session with the server, and its program.
func (s *Server) Close() {
	s.stop()
	s.work.Wait()
}

// Watch has changed called whenever [Server.Tools] are others than before, until end is called.
func (s *Server) Watch(changed func()) (end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watched++
	n := s.watched
	s.watch[n] = changed
	return func() { s.mu.Lock(); defer s.mu.Unlock(); delete(s.watch, n) }
}

// serve is with the server until it is closed.
func (s *Server) serve() {
	ctx := s.ctx
	retry := firstRetry
	version := ""
	for ctx.Err() == nil {
		began := time.Now()
		err := s.attend(ctx, version)
		if ctx.Err() != nil {
			return
		}
		if version = ""; errors.Is(err, errSilent) {
			version = handshakeVersion
		}
		s.lost(err)
		if time.Since(began) > lastRetry {
			retry = firstRetry
		}
		select {
		case <-ctx.Done():
		case <-time.After(retry):
		}
		retry = min(2*retry, lastRetry)
	}
}

// errSilent is in the chain of the error of a server that did not answer the first message.
var errSilent = errors.New("it did not answer in time")

// attend is one session with the server. The error is why it ended.
func (s *Server) attend(ctx context.Context, version string) (err error) {
	defer func() {
		if p := recover(); p != nil { // what a server sends harms nobody but itself
			err = fmt.Errorf("%w: %v", errPanic, p)
		}
	}()
	if err := s.load(); err != nil {
		return err
	}
	begins, cancel := context.WithTimeout(ctx, connectTime)
	ses, err := s.c.connect(begins, version, s.Look)
	if late := begins.Err() != nil; late && err != nil {
		err = fmt.Errorf("%w: %w", errSilent, err)
	}
	cancel()
	if err != nil {
		return err
	}
	defer ses.end()
	ended := make(chan error, 1)
	go func() { ended <- because(ses.Wait(), ses.why) }() // ends with the session
	for {
		if err := s.list(ctx, ses); err != nil {
			return err
		}
		if err := rest(ctx, calmTime, nil, ended); err != nil {
			return err
		}
		if err := rest(ctx, probeEvery, s.look, ended); err != nil {
			return err
		}
	}
}

// rest waits for a time, or until somebody wants the server looked at. The error is why the session is over.
func rest(ctx context.Context, d time.Duration, look <-chan struct{}, ended <-chan error) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-ended:
		if err == nil {
			err = io.EOF
		}
		return fmt.Errorf("%w: %w", errEnded, err)
	case <-look:
	case <-t.C:
	}
	return nil
}

var (
	errEnded = errors.New("the session has ended")
	errList  = errors.New("its list of tools cannot be used")
	errPins  = errors.New("what was approved cannot be read")
	errPanic = errors.New("what it sent made this program panic")
)

// Look has the server looked at now, rather than when it is time.
func (s *Server) Look() {
	select {
	case s.look <- struct{}{}:
	default:
	}
}

// list asks a server that works for its tools.
func (s *Server) list(ctx context.Context, ses *session) error {
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	tools, err := ses.tools(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", errList, err)
	}
	offered := examine(s.c.Name, tools, s.c.Scan)
	news := false
	s.change(func() {
		if s.session == nil {
			s.since = time.Now()
			s.c.Log.Info("an MCP server works", zap.String("server", s.c.Name))
			s.c.Tell("")
		}
		news = !s.known || !slices.EqualFunc(s.offered, offered, func(a, b candidate) bool { return same(a.Offer, b.Offer) && a.problem == b.problem })
		s.session, s.reason, s.offered, s.known = ses, "", offered, true
	})
	s.begin.Do(func() { close(s.begun) })
	if news {
		s.c.Offered(s.Status())
	}
	return nil
}

// lost is told that the server does not work.
func (s *Server) lost(err error) {
	reason := s.reasonOf(err)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session != nil || s.reason != reason {
		s.since = time.Now()
		s.c.Log.Warn("an MCP server does not work: calls of its tools fail, and it is tried again", zap.String("server", s.c.Name), zap.String("reason", reason), zap.String("error", s.c.hide(err.Error())))
		s.c.Tell(reason)
	}
	s.session, s.reason = nil, reason
	s.begin.Do(func() { close(s.begun) })
}

func (s *Server) reasonOf(err error) string {
	program := s.c.URL == ""
	_, answered := errors.AsType[*jsonrpc.Error](err)
	switch {
	case errors.Is(err, errPins):
		return ReasonPins
	case sandbox.IsUnavailable(err):
		return ReasonSandbox
	case errors.Is(err, errFlood), errors.Is(err, errTooLarge):
		return ReasonFlood
	case errors.Is(err, errTooDeep):
		return ReasonMalformed
	case errors.Is(err, errSilent), errors.Is(err, context.DeadlineExceeded):
		return health.Timeout
	case errors.Is(err, errStopped):
		return ReasonEnded
	case errors.Is(err, errNotTaken):
		return health.Authentication
	case errors.Is(err, errRefused):
		return health.Refused
	case !program && errors.Is(err, errEnded), errors.Is(err, sdk.ErrConnectionClosed), program && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe)):
		return ReasonEnded
	}
	if reason := health.Reason(err); reason != health.Refused {
		return reason
	}
	switch {
	case errors.Is(err, errList):
		return ReasonList
	case program && !answered:
		return ReasonMalformed
	}
	return health.Refused
}

// change changes what is known, and tells those who watch if other tools follow from it.
func (s *Server) change(how func()) {
	s.mu.Lock()
	before := s.usable()
	how()
	var tell []func()
	if after := s.usable(); digest(before) != digest(after) {
		for _, f := range s.watch {
			tell = append(tell, f)
		}
	}
	s.mu.Unlock()
	for _, f := range tell {
		f()
	}
}
