package main

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// shape is what the namespaces of a sandbox depend on.
type shape struct {
	flags    uintptr
	uid, gid int
}

// newborn is the first process of a sandbox that waits for its order. The namespaces are there, and
// nothing in them is yet.
type newborn struct {
	house  *household
	shape  shape
	mounts string // of the host, when it was born
	cmd    *exec.Cmd
	to     *os.File // a socket; when it closes, the newborn ends
	groups groups   // that it is in
}

// spares keeps one newborn for the next sandbox, because making namespaces and starting a program take
// longer than all the rest.
type spares struct {
	house *household

	mu      sync.Mutex
	waiting *newborn
	filling sync.WaitGroup
}

// take gives a newborn of the shape: the one that waited, if the host's mounts are still those that it
// has.
func (s *spares) take(sh shape, mounts string) (n *newborn, waited bool, err error) {
	s.mu.Lock()
	n, s.waiting = s.waiting, nil
	s.mu.Unlock()
	if n != nil && n.shape == sh && n.mounts == mounts {
		return n, true, nil
	}
	n.end()
	n, err = bear(s.house, sh, mounts)
	return n, false, err
}

// refill makes a newborn like the last one, while that works.
func (s *spares) refill(sh shape, mounts string) {
	s.filling.Go(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.waiting == nil {
			s.waiting, _ = bear(s.house, sh, mounts) // the next sandbox finds out why there is none
		}
	})
}

// close ends the newborn that waits. Nobody takes one any more.
func (s *spares) close() {
	s.filling.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting.end()
	s.waiting = nil
}

// end ends a newborn that nobody needs. It may be nil.
func (n *newborn) end() {
	if n == nil {
		return
	}
	_ = n.to.Close()
	_ = n.cmd.Process.Kill()
	_ = n.house.wait(n.cmd) // killed
	n.groups.remove()
}

// bear starts the first process of a sandbox.
func bear(house *household, sh shape, mounts string) (*newborn, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("making a socket: %w", err)
	}
	theirs := os.NewFile(uintptr(pair[1]), "inside")
	defer func() { _ = theirs.Close() }()
	n := &newborn{house: house, shape: sh, mounts: mounts, to: os.NewFile(uintptr(pair[0]), "supervisor")}
	n.cmd = &exec.Cmd{
		Path: "/proc/self/exe", Args: []string{"svc-sandbox", argInside}, Stderr: os.Stderr,
		Env:         append(weakened(), "GOMAXPROCS=2", "GOGC=off", "GOMEMLIMIT=64MiB", "GOTRACEBACK=none"),
		ExtraFiles:  []*os.File{theirs},
		SysProcAttr: sh.attributes(),
	}
	if err := house.start(n.cmd); err != nil {
		_ = n.to.Close()
		return nil, fmt.Errorf("making namespaces: %w", err)
	}
	n.groups = newGroups()
	if err := n.groups.add(n.cmd.Process.Pid); err != nil {
		n.end()
		return nil, err
	}
	return n, nil
}

// attributes are those of a process in new namespaces.
func (sh shape) attributes() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setsid: true, Cloneflags: sh.flags}
	if sh.flags&unix.CLONE_NEWUSER == 0 {
		return attr
	}
	attr.UidMappings, attr.GidMappings = ids(os.Getuid(), sh.uid), ids(os.Getgid(), sh.gid)
	attr.GidMappingsEnableSetgroups = os.Getuid() == 0
	if os.Getuid() != 0 {
		// Who is not root in its namespace loses all capabilities when it executes a program, unless
		// they are ambient. The first process gives them up before it starts the command.
		for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
			attr.AmbientCaps = append(attr.AmbientCaps, c)
		}
	}
	return attr
}

// ids keeps the number of this process, and for root that of the command.
func ids(ours, command int) []syscall.SysProcIDMap {
	all := []syscall.SysProcIDMap{{ContainerID: ours, HostID: ours, Size: 1}}
	if ours == 0 && command != 0 {
		all = append(all, syscall.SysProcIDMap{ContainerID: command, HostID: command, Size: 1})
	}
	return all
}
