package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// server is the helper process, which is started when it is needed and again when it has died.
type server struct {
	path string

	mu     sync.Mutex
	closed bool
	now    *serving // nil before the first run
}

// serving is one life of the helper.
type serving struct {
	cmd    *exec.Cmd
	socket *os.File
	says   tail
	ended  chan struct{}
}

var errClosed = errors.New("the sandbox is closed")

// send hands the helper the descriptors of a run.
func (s *server) send(files []*os.File) (*serving, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errClosed
	}
	fds := make([]int, len(files))
	for i, f := range files {
		fds[i] = int(f.Fd()) // which makes it block, as a program expects of its standard descriptors
	}
	for {
		if s.now != nil && s.now.over() {
			s.now.end()
			s.now = nil
		}
		started := s.now == nil
		if started {
			if err := s.start(); err != nil {
				return nil, err
			}
		}
		err := unix.Sendmsg(int(s.now.socket.Fd()), []byte{0}, unix.UnixRights(fds...), nil, unix.MSG_NOSIGNAL)
		switch {
		case err == nil:
			return s.now, nil
		case errors.Is(err, unix.EINTR):
		case started:
			return nil, &Unavailable{fmt.Sprintf("asking %s: %v", s.path, err)}
		default: // it has died since the last run
			s.now.end()
			s.now = nil
		}
	}
}

func (s *server) start() error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("making a socket: %w", err)
	}
	theirs := os.NewFile(uintptr(pair[1]), "helper")
	defer func() { _ = theirs.Close() }()
	n := &serving{socket: os.NewFile(uintptr(pair[0]), "service"), ended: make(chan struct{})}
	n.cmd = exec.Command(s.path)
	n.cmd.Env = helperEnvironment()
	n.cmd.ExtraFiles = []*os.File{theirs}
	n.cmd.Stderr = &n.says
	n.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // ^C is for this process
	if err := n.cmd.Start(); err != nil {
		_ = n.socket.Close()
		return &Unavailable{fmt.Sprintf("starting %s: %v", s.path, err)}
	}
	go func() {
		defer close(n.ended)
		_ = n.cmd.Wait() // what it was asked for has an answer, or none
	}()
	s.now = n
	return nil
}

// over reports whether the helper has ended.
func (n *serving) over() bool {
	select {
	case <-n.ended:
		return true
	default:
		return false
	}
}

// leaves gives a helper that did not answer, which is about to end, the time to do so. Until then its
// socket takes the next run, which would get no answer either.
func (n *serving) leaves() {
	select {
	case <-n.ended:
	case <-time.After(time.Second):
	}
}

// end lets the helper end, and all that it runs.
func (n *serving) end() {
	_ = n.socket.Close()
	<-n.ended
}

func (s *server) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.now != nil {
		s.now.end()
		s.now = nil
	}
}

// helperEnvironment is that of the helper: as many threads as it needs, on any number of processors.
// Tests of what each layer is for add to it.
var helperEnvironment = func() []string { return []string{"GOMAXPROCS=4"} }
