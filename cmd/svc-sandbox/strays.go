package main

import (
	"os"
	"os/exec"
	"sync"

	"golang.org/x/sys/unix"
)

// household knows the first processes of all sandboxes. What else has the helper as its parent is what
// a first process has left behind when it died too early, which only happens without a PID namespace.
type household struct {
	mu      sync.Mutex
	members map[int]bool
}

// newHousehold makes the helper the parent of what loses its own.
func newHousehold() *household {
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) // without it, a PID namespace is what is left
	return &household{members: map[int]bool{}}
}

// start starts a first process.
func (h *household) start(cmd *exec.Cmd) error {
	h.mu.Lock() // so that it is no stray before it is known
	defer h.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return err
	}
	h.members[cmd.Process.Pid] = true
	return nil
}

// wait waits for a first process, and ends what it has left behind.
func (h *household) wait(cmd *exec.Cmd) error {
	err := cmd.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.members, cmd.Process.Pid)
	if err == nil {
		return nil // it had no children any more
	}
	for {
		strays := h.strays()
		if len(strays) == 0 {
			return err
		}
		for _, pid := range strays {
			for _, p := range append(descendants(pid), pid) {
				_ = unix.Kill(p, unix.SIGKILL)
			}
			_, _ = unix.Wait4(pid, nil, 0, nil)
		}
	}
}

// strays are the children of this process that are no first processes, dead ones too.
func (h *household) strays() (pids []int) {
	for _, pid := range children(os.Getpid()) {
		if !h.members[pid] {
			pids = append(pids, pid)
		}
	}
	return pids
}
