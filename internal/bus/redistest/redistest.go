// Package redistest runs real Redis servers for tests: one alone, on a unix socket or with TLS, one
// behind a sentinel with a replica, or a cluster.
//
//	s := redistest.New(t)              // ends with the test
//	s, err := redistest.Start(folder, redistest.Config{})  // without a testing.TB; the caller stops it
//	b, err := redis.Open(ctx, s.Bus(), redis.Options{})
//	s.Stop()                           // nobody answers any more, and what it held is gone
//	s.Run()                            // now again
//
// The programs redis-server and redis-cli must be installed; .ci/setup does it. A Server is not safe
// for concurrent use; what it serves is.
package redistest

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/svc-gateway/svc/internal/settings"
)

// patience bounds how long a server may take to start; it is only spent on failure.
const patience = 30 * time.Second

// Config says how a server is to be. The zero value is one on a unix socket.
type Config struct {
	TCP   bool     // listen on a port of 127.0.0.1
	TLS   bool     // the same, encrypted, for clients with a certificate only
	Lines []string // of the server's configuration
}

// Server is a redis-server.
type Server struct {
	Address string // host:port, or the path of a unix socket

	// With TLS: who signed its certificate, and a certificate with key for its clients.
	CAFile, CertFile, KeyFile string

	dir  string
	args []string
	tls  *tls.Config
	cmd  *exec.Cmd
	gone chan struct{} // closed when cmd has ended
	log  bytes.Buffer
}

// New starts a server on a unix socket, with lines of configuration, and stops it when the test ends.
func New(t testing.TB, lines ...string) *Server {
	t.Helper()
	return NewWith(t, Config{Lines: lines})
}

// NewWith is New for any configuration.
func NewWith(t testing.TB, c Config) *Server {
	t.Helper()
	s, err := Start(shortTempDir(t), c)
	if err != nil {
		t.Fatal(err)
	}
	stopAfter(t, s)
	return s
}

// Start starts a server whose files are in the folder dir.
func Start(dir string, c Config) (*Server, error) {
	s := &Server{dir: dir}
	for range 5 {
		port, lines, err := s.listen(c)
		if err != nil {
			return nil, err
		}
		if err := s.configure(append(lines, c.Lines...)); err != nil {
			return nil, err
		}
		if err = s.Run(); err == nil {
			return s, nil
		}
		if port == "" || !strings.Contains(err.Error(), "in use") {
			return nil, err
		}
	}
	return nil, errors.New("redis-server: every port is taken")
}

// listen sets the address and returns the lines that say so.
func (s *Server) listen(c Config) (port string, lines []string, err error) {
	if !c.TCP && !c.TLS {
		s.Address = filepath.Join(s.dir, "redis.sock")
		return "", []string{"port 0", "unixsocket " + s.Address}, nil
	}
	if port, err = freePort(); err != nil {
		return "", nil, err
	}
	s.Address = "127.0.0.1:" + port
	if !c.TLS {
		return port, []string{"bind 127.0.0.1", "port " + port}, nil
	}
	if err := s.certify(net.IPv4(127, 0, 0, 1)); err != nil {
		return "", nil, fmt.Errorf("making certificates: %w", err)
	}
	return port, []string{
		"bind 127.0.0.1", "port 0", "tls-port " + port, "tls-ca-cert-file " + s.CAFile,
		"tls-cert-file " + filepath.Join(s.dir, "server.pem"), "tls-key-file " + filepath.Join(s.dir, "server.key"),
	}, nil
}

func (s *Server) configure(lines []string) error {
	lines = append([]string{"daemonize no", "dir " + s.dir, `save ""`, "appendonly no"}, lines...)
	file := filepath.Join(s.dir, "redis.conf")
	s.args = []string{file}
	return os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600)
}

// Run starts the server, or starts it again. It holds nothing.
func (s *Server) Run() error {
	s.log.Reset()
	s.cmd = exec.Command("redis-server", s.args...)
	s.cmd.Stdout, s.cmd.Stderr = &s.log, &s.log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		return fmt.Errorf("starting redis-server, which .ci/setup installs: %w", err)
	}
	cmd, gone := s.cmd, make(chan struct{})
	s.gone = gone
	go func() {
		_ = cmd.Wait() // an error: it was killed
		close(gone)
	}()
	for deadline := time.After(patience); ; {
		_, err := s.Do("ping")
		if _, answered := errors.AsType[goredis.Error](err); err == nil || answered && !goredis.IsLoadingError(err) {
			return nil
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-gone:
			s.cmd = nil
			return fmt.Errorf("redis-server ended: %s", s.log.String())
		case <-deadline:
			return errors.Join(fmt.Errorf("redis-server does not answer: %w", err), s.Stop())
		}
	}
}

// Stop kills the server. What it held is gone.
func (s *Server) Stop() error {
	if s.cmd == nil {
		return nil
	}
	err := s.cmd.Process.Kill()
	<-s.gone
	s.cmd = nil
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// Pause makes the server hang: it takes connections and answers nothing, until Resume.
func (s *Server) Pause() error {
	if err := s.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	for deadline := time.After(patience); ; {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
		if err != nil || strings.Contains(string(stat), ") T ") {
			return err
		}
		select {
		case <-time.After(time.Millisecond):
		case <-deadline:
			return errors.New("redis-server does not stop")
		}
	}
}

// Resume ends a Pause.
func (s *Server) Resume() error { return s.cmd.Process.Signal(syscall.SIGCONT) }

// quieten keeps the client library from writing to stderr while a server starts.
var quieten = sync.OnceFunc(logging.Disable)

// Do sends a command, as the server's user default, and returns the answer.
func (s *Server) Do(args ...any) (any, error) {
	quieten()
	c := goredis.NewClient(&goredis.Options{
		Addr: s.Address, TLSConfig: s.tls, Protocol: 2, DisableIdentity: true, MaxRetries: -1, DialerRetries: 1,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	v, err := c.Do(context.Background(), args...).Result()
	return v, errors.Join(err, c.Close())
}

// Bus are the settings of a bus in this server. Its time is so long that a busy machine does not
// pass for a server that hangs.
func (s *Server) Bus() settings.Bus {
	b := settings.Bus{
		Kind: settings.BusRedis, Address: []string{s.Address}, Mode: settings.RedisSingle, Prefix: "svc:", Timeout: 10 * time.Second,
	}
	if s.tls != nil {
		b.TLS, b.CAFile, b.CertFile, b.KeyFile = true, s.CAFile, s.CertFile, s.KeyFile
	}
	return b
}

// freePort finds a port that the kernel gives to nobody's outgoing connection, so that it is
// still free when the server comes back to it, and whose port 10000 above, which servers of a
// cluster talk on, is free too.
func freePort() (string, error) {
	for range 100 {
		port := 10_000 + rand.IntN(10_000)
		if isFree(port) && isFree(port+10_000) {
			return strconv.Itoa(port), nil
		}
	}
	return "", errors.New("there is no free port")
}

func isFree(port int) bool {
	ln, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	return err == nil && ln.Close() == nil
}

// shortTempDir is TempDir for sockets, whose path is limited to 108 bytes.
func shortTempDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "svc-redis")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func stopAfter(t testing.TB, servers ...*Server) {
	t.Cleanup(func() {
		for _, s := range servers {
			if err := s.Stop(); err != nil {
				t.Error(err)
			}
			if t.Failed() {
				t.Logf("%s:\n%s", s.Address, s.log.String())
			}
		}
	})
}
