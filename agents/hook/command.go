package hook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	kept     = 4 << 10 // bytes of output that are looked through for credentials
	maxShown = 1 << 10 // bytes of it that are logged
	grace    = 2 * time.Second
)

// execute runs a command until it and all that it has started are gone. When ctx ends they are killed,
// and the error is the context's cause. It returns the beginning of what was printed.
//
// The command is in a process group of its own and in this process's session: package tools takes
// processes of other sessions for what one of its programs has left behind.
func execute(ctx context.Context, command, dir string, env []string) (output []byte, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("making a pipe: %w", err)
	}
	defer r.Close()
	cmd := exec.Command("/bin/sh", "-c", command)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, env, w, w
	cmd.ExtraFiles = append(make([]*os.File, leashNumber-3), w)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	l, err := newLeash(w)
	if err == nil {
		err = cmd.Start()
	}
	_ = w.Close()
	if err != nil {
		return nil, fmt.Errorf("starting /bin/sh: %w", err)
	}
	p := &process{cmd: cmd, exited: make(chan struct{}), over: make(chan struct{}), reaped: make(chan struct{})}
	go p.reap()
	silent := make(chan struct{}) // nobody holds the other end of the pipe any more
	var printed []byte            // to be read after that
	go func() {
		defer close(silent)
		printed = drain(r)
	}()
	cause := error(nil)
	for _, end := range []chan struct{}{p.exited, silent} {
		select {
		case <-end:
		case <-ctx.Done():
			cause = context.Cause(ctx)
		}
	}
	if cause != nil {
		p.kill()
		l.pull(cmd.Process.Pid, silent, grace)
	}
	close(p.over)
	select {
	case <-p.reaped:
	case <-time.After(grace): // in a system call that cannot be interrupted; reap waits on
		return nil, cause
	}
	_ = r.SetReadDeadline(time.Now()) // who still holds the pipe got away
	<-silent
	if cause != nil {
		return printed, cause
	}
	return printed, failure(cmd.ProcessState)
}

// drain reads to the end and keeps the beginning.
func drain(r io.Reader) (output []byte) {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		if room := kept - len(output); room > 0 {
			output = append(output, buf[:min(n, room)]...)
		}
		if err != nil {
			return output
		}
	}
}

// process is a started command and its group, whose number is the command's.
type process struct {
	cmd    *exec.Cmd
	exited chan struct{} // closed when the command has ended and nobody was told yet
	over   chan struct{} // closed by the owner, who kills nothing any more
	reaped chan struct{} // closed when nothing of it is left
}

// kill ends the group. The number is the group's until over is closed.
func (p *process) kill() { _ = unix.Kill(-p.cmd.Process.Pid, unix.SIGKILL) } // no such group: it has ended

// reap waits for the command, and when its owner is done with it, takes its status, and that of those in its
// group whose parent this process has become.
func (p *process) reap() {
	defer close(p.reaped)
	for {
		err := unix.Waitid(unix.P_PID, p.cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	close(p.exited)
	<-p.over
	p.kill()
	_ = p.cmd.Wait() // the status is in ProcessState
	for wait(-p.cmd.Process.Pid) {
	}
}

// wait takes the status of a child, or of one of a group if the number is negative, when it has ended. It
// reports false when there is none.
func wait(pid int) bool {
	for {
		if _, err := unix.Wait4(pid, nil, 0, nil); !errors.Is(err, unix.EINTR) {
			return err == nil
		}
	}
}

// failure says how a command failed; nil for success.
func failure(s *os.ProcessState) error {
	if s == nil || s.Success() {
		return nil
	}
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return fmt.Errorf("killed by signal: %s", ws.Signal())
	}
	return fmt.Errorf("exit code %d", s.ExitCode())
}
