package remotetest

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// Machine is a sandbox.
type Machine struct {
	ID      string
	Labels  map[string]string
	Offline bool // it is to have no network
	Made    any  // what it was asked for with

	looks   int
	started float64

	mu      sync.Mutex
	roots   []string // /tmp/svc-RUN
	running map[*exec.Cmd]bool
	ended   bool
}

// write writes a file of the sandbox, below /tmp as all of them are.
func (m *Machine) write(path string, r io.Reader) error {
	root, ok := strings.CutSuffix(path, ".in")
	if !ok || !strings.HasPrefix(root, "/tmp/svc-") || strings.Contains(root[5:], "/") {
		return errors.New("remotetest: a file is where none is expected: " + path)
	}
	m.mu.Lock()
	m.roots = append(m.roots, root)
	m.mu.Unlock()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil && errors.Is(err, os.ErrExist) { // sent again
		f, err = os.OpenFile(path, os.O_TRUNC|os.O_WRONLY|syscall.O_NOFOLLOW, 0o600)
	}
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Close())
}

// open opens a file of the sandbox.
func (m *Machine) open(path string) (*os.File, error) {
	if !strings.HasPrefix(path, "/tmp/svc-") {
		return nil, os.ErrNotExist
	}
	return os.Open(path)
}

// command is a program in the sandbox. Its environment is a provider's.
func (m *Machine) command(args []string) *exec.Cmd {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = "/tmp"
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "PROVIDER_TOKEN=of-the-provider", "HOME=/root"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// start starts a program, unless the sandbox has ended.
func (m *Machine) start(cmd *exec.Cmd) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ended {
		return errors.New("the sandbox has ended")
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	if m.running == nil {
		m.running = map[*exec.Cmd]bool{}
	}
	m.running[cmd] = true
	return nil
}

// wait waits for a program: its exit code, and the signal that ended it.
func (m *Machine) wait(cmd *exec.Cmd) (code int, signal syscall.Signal) {
	_ = cmd.Wait()
	m.mu.Lock()
	delete(m.running, cmd)
	m.mu.Unlock()
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal()), ws.Signal()
	}
	return cmd.ProcessState.ExitCode(), 0
}

// kill kills a program with its process group.
func (m *Machine) kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// end ends the sandbox: all that runs in it, sessions of their own too, and its files.
func (m *Machine) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended = true
	for cmd := range m.running {
		m.kill(cmd)
	}
	for _, root := range m.roots {
		if pid, err := os.ReadFile(root + "/pid"); err == nil {
			if n, err := strconv.Atoi(strings.TrimSpace(string(pid))); err == nil && n > 1 {
				_ = syscall.Kill(-n, syscall.SIGKILL)
			}
		}
		for _, path := range []string{root, root + ".in", root + ".out"} {
			_ = os.RemoveAll(path)
		}
	}
}
