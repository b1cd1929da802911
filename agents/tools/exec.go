package tools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const searchPath = "/usr/sbin:/usr/bin:/sbin:/bin"

// limits bound what one command may print and how long its end may take.
type limits struct {
	keep  int           // bytes of output that are returned
	stop  int           // bytes after which the command is killed
	grace time.Duration // for the pipe to empty and for a killed process to go
}

var commandLimits = limits{keep: 64 << 10, stop: 8 << 20, grace: 2 * time.Second}

// outcome is how a command went.
type outcome struct {
	output  []byte // of stdout and stderr together, cut at limits.keep
	printed int    // bytes in all
	stopped bool   // killed because it printed more than limits.stop
	status  string // exit status other than 0, for people
}

// surroundings are where a program runs.
type surroundings struct {
	dir  string
	path string // where it finds other programs
}

// lookUp finds a program in the fixed search path.
func lookUp(name string) (string, error) {
	for _, dir := range filepath.SplitList(searchPath) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is not installed on this host (looked in %s)", name, searchPath)
}

// execute runs a program in a process group of its own, without a shell, with
// nothing of the service's environment and with files as its descriptors 3, 4, ….
// When the context ends or too much is printed the whole group is killed, and when the
// program has ended, all that it has left behind.
func execute(ctx context.Context, argv []string, at surroundings, files []*os.File, l limits) (outcome, error) {
	return executeWith(ctx, newKeeper(), argv, at, files, l)
}

func executeWith(ctx context.Context, k keeper, argv []string, at surroundings, files []*os.File, l limits) (outcome, error) {
	if err := ctx.Err(); err != nil {
		return outcome{}, fmt.Errorf("running %s: %w", filepath.Base(argv[0]), err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		return outcome{}, fmt.Errorf("making a pipe: %w", err)
	}
	defer func() { _ = r.Close() }()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.ExtraFiles = at.dir, files
	cmd.Stdout, cmd.Stderr = w, w
	cmd.Env = []string{"PATH=" + at.path, "LC_ALL=C"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	k.prepare(cmd)
	err = cmd.Start()
	_ = w.Close()
	if err != nil {
		return outcome{}, fmt.Errorf("starting %s: %w", filepath.Base(argv[0]), err)
	}

	p := &process{cmd: cmd, keeper: k, exited: make(chan struct{})}
	go p.reap()
	var out outcome
	read := make(chan error, 1)
	go func() { read <- out.drain(r, l, p.kill) }()

	cause := error(nil)
	select {
	case <-p.exited:
	case <-ctx.Done():
		cause = context.Cause(ctx)
		p.kill()
		select {
		case <-p.exited:
		case <-time.After(l.grace): // in an uninterruptible system call; reap waits on
		}
	}
	// What the program wrote is in the pipe. A process that got away can hold the other
	// end open for ever, which is not waited for.
	if err := r.SetReadDeadline(time.Now().Add(l.grace)); err != nil {
		return outcome{}, fmt.Errorf("reading the output: %w", err)
	}
	err = <-read
	switch {
	case cause != nil:
		return outcome{}, fmt.Errorf("running %s: stopped: %w", filepath.Base(argv[0]), errors.Join(ctx.Err(), distinct(ctx.Err(), cause)))
	case err != nil && !errors.Is(err, os.ErrDeadlineExceeded):
		return outcome{}, fmt.Errorf("reading the output: %w", err)
	}
	out.status = p.status()
	return out, nil
}

// distinct returns cause unless it says the same as err.
func distinct(err, cause error) error {
	if errors.Is(err, cause) {
		return nil
	}
	return cause
}

// drain reads to the end, keeps the beginning and calls kill when it gets too much.
func (o *outcome) drain(r *os.File, l limits, kill func()) error {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		o.printed += n
		if room := l.keep - len(o.output); room > 0 {
			o.output = append(o.output, buf[:min(n, room)]...)
		}
		if o.printed > l.stop && !o.stopped {
			o.stopped = true
			kill()
		}
		if err != nil {
			if errors.Is(err, fs.ErrClosed) || errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

// process is a started program and its group, whose number is the program's.
type process struct {
	cmd    *exec.Cmd
	keeper keeper
	exited chan struct{}

	mu     sync.Mutex
	reaped bool
}

// kill ends the group. It does nothing once the number may belong to others.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		_ = unix.Kill(-p.cmd.Process.Pid, unix.SIGKILL) // no such group: it has ended
	}
}

// reap waits for the program, kills what is left of its group while the dead
// program still keeps the number, takes its status, and ends what left the group.
func (p *process) reap() {
	for {
		err := unix.Waitid(unix.P_PID, p.cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	p.kill()
	p.mu.Lock()
	_ = p.cmd.Wait() // the exit status is in ProcessState
	p.reaped = true
	p.mu.Unlock()
	p.keeper.sweep(p.cmd.Process.Pid)
	close(p.exited)
}

// status describes how the program ended, empty for success. Only after exited.
func (p *process) status() string {
	s := p.cmd.ProcessState
	if s == nil || s.Success() {
		return ""
	}
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return "killed by signal: " + ws.Signal().String()
	}
	return fmt.Sprintf("exit code %d", s.ExitCode())
}
