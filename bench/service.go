package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// service is a running process of the program.
type service struct {
	name, addr, token, home string
	admin                   string // Caddy's admin socket; empty: not known
	cmd                     *exec.Cmd
	exited                  chan struct{}
}

const (
	readyTimeout = 30 * time.Second
	stopTimeout  = 20 * time.Second
)

// start starts the process and waits until it accepts connections.
func (s *service) start(ctx context.Context, cmd *exec.Cmd, env []string) error {
	logPath := filepath.Join(s.home, "bench.log")
	log, err := os.Create(logPath)
	if err != nil {
		return fmt.Errorf("making a log: %w", err)
	}
	defer log.Close()
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = env, s.home, log, log
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting the service: %w", err)
	}
	s.cmd, s.exited = cmd, make(chan struct{})
	go func() {
		_ = cmd.Wait() // whoever waits for the service notices that it has ended
		close(s.exited)
	}()
	ctx, cancel := context.WithTimeoutCause(ctx, readyTimeout, fmt.Errorf("it does not answer within %s", readyTimeout))
	defer cancel()
	ended := false
	err = until(ctx, func() bool {
		select {
		case <-s.exited:
			ended = true
			return true
		default:
		}
		c, err := net.Dial("tcp", s.addr)
		if err != nil {
			return false
		}
		c.Close()
		return true
	})
	if ended {
		err = errors.New("it has ended")
	}
	if err != nil {
		said, _ := os.ReadFile(logPath)
		s.stop()
		return fmt.Errorf("starting the service %s: %w; it says:\n%s", s.name, err, lastLines(said))
	}
	return nil
}

func lastLines(log []byte) []byte {
	const most = 2000
	return bytes.TrimSpace(log[max(0, len(log)-most):])
}

// stop ends the process, by force when it does not end in time.
func (s *service) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	t := time.NewTimer(stopTimeout)
	defer t.Stop()
	select {
	case <-s.exited:
	case <-t.C:
		_ = s.cmd.Process.Kill()
		<-s.exited
	}
}

// pause has the process and its children stand still, or go on. They are a process group of their own.
func (s *service) pause(still bool) error {
	sig := syscall.SIGCONT
	if still {
		sig = syscall.SIGSTOP
	}
	if err := syscall.Kill(-s.pid(), sig); err != nil {
		return fmt.Errorf("pausing the service %s: %w", s.name, err)
	}
	return nil
}

func (s *service) pid() int { return s.cmd.Process.Pid }
