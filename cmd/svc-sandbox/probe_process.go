package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/agents/sandbox/wire"
)

// tryDescriptors looks for open files that the program was not given.
func tryDescriptors(wire.Probe) error {
	for fd := 3; fd < 1024; fd++ {
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err == nil && flags&unix.FD_CLOEXEC == 0 { // this program's own are closed on exec
			return fmt.Errorf("descriptor %d is open", fd)
		}
	}
	return nil
}

func tryEnvironment(p wire.Probe) error {
	for _, e := range os.Environ() {
		if name, _, _ := strings.Cut(e, "="); name == p.Env {
			return fmt.Errorf("the variable %s of the service is set", name)
		}
	}
	return nil
}

func trySession(wire.Probe) error {
	sid, err := unix.Getsid(0)
	if err == nil && sid != os.Getpid() {
		return errors.New("the session is another's")
	}
	return nil
}

func tryLimits(p wire.Probe) error {
	for _, l := range []struct {
		name     string
		resource int
		most     uint64
	}{
		{"open files", unix.RLIMIT_NOFILE, uint64(p.Limits.OpenFiles)},
		{"file size", unix.RLIMIT_FSIZE, uint64(p.Limits.Workspace)},
		{"data", unix.RLIMIT_DATA, uint64(p.Limits.Memory)},
		{"core files", unix.RLIMIT_CORE, 0},
		{"message queues", unix.RLIMIT_MSGQUEUE, 0},
	} {
		var now unix.Rlimit
		if err := unix.Getrlimit(l.resource, &now); err != nil {
			return fmt.Errorf("reading a limit: %w", err)
		}
		if now.Max > l.most {
			return fmt.Errorf("the limit of %s is %d, not %d", l.name, now.Max, l.most)
		}
	}
	return nil
}

// tryPrivileges looks for capabilities, and tries to become somebody else.
func tryPrivileges(p wire.Probe) error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return fmt.Errorf("reading capabilities: %w", err)
	}
	for _, d := range data {
		if d.Effective|d.Permitted|d.Inheritable != 0 {
			return errors.New("there are capabilities")
		}
	}
	// An ordinary user without a user namespace cannot empty the set that new programs can get from, and
	// with no new privileges they get nothing.
	if has, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, unix.CAP_SYS_ADMIN, 0, 0, 0); err == nil && has == 1 && p.Mode != wire.Minimal {
		return errors.New("programs could get capabilities")
	}
	if os.Getuid() != p.UserID || os.Geteuid() != p.UserID {
		return fmt.Errorf("the user is %d, not %d", os.Geteuid(), p.UserID)
	}
	for _, id := range []int{0, 1} {
		if id == p.UserID {
			continue
		}
		if _, _, e := unix.RawSyscall(unix.SYS_SETRESUID, uintptr(id), uintptr(id), uintptr(id)); e == 0 {
			return fmt.Errorf("it can become user %d", id)
		}
	}
	return nil
}

func tryNoNewPrivileges(wire.Probe) error {
	if on, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); err != nil || on != 1 {
		return errors.New("programs could get new privileges")
	}
	return nil
}

// fewProcesses is more than a probe's sandbox has.
const fewProcesses = 64

// tryProcess tries to see, signal and slow down a process of the host.
func tryProcess(p wire.Probe) error {
	if p.PID <= fewProcesses && p.Mode != wire.Minimal {
		return nil // there may be another of that number in the sandbox; namespace_pid tells
	}
	err := unix.Kill(p.PID, 0)
	switch {
	case err == nil:
		return errors.New("a process of the host can be sent signals")
	case p.Mode != wire.Minimal && !errors.Is(err, unix.ESRCH):
		return fmt.Errorf("a process of the host is known here: %w", err)
	}
	if fd, _, e := unix.RawSyscall6(unix.SYS_PRLIMIT64, uintptr(p.PID), unix.RLIMIT_NOFILE, 0, uintptr(unsafe.Pointer(&unix.Rlimit{})), 0, 0); e == 0 {
		return fmt.Errorf("the limits of a process of the host can be read: %d", fd)
	}
	if unix.Setpriority(unix.PRIO_PROCESS, p.PID, 19) == nil {
		return errors.New("a process of the host can be slowed down")
	}
	return nil
}

// trySignalFirst tries to disturb the process that watches over the sandbox.
func trySignalFirst(p wire.Probe) error {
	if !p.Scoped {
		return nil
	}
	if unix.Kill(os.Getppid(), unix.SIGWINCH) == nil || p.Mode != wire.Minimal && unix.Kill(1, unix.SIGWINCH) == nil {
		return errors.New("the first process can be sent signals")
	}
	return nil
}

func tryPtrace(wire.Probe) error {
	pid := os.Getppid()
	if pid == 0 {
		pid = 1
	}
	const seize = 0x4206
	if _, _, e := unix.RawSyscall6(unix.SYS_PTRACE, seize, uintptr(pid), 0, 0, 0, 0); e == 0 {
		return errors.New("the first process can be traced")
	}
	buf := make([]byte, 1)
	local := []unix.Iovec{{Base: &buf[0], Len: 1}}
	if _, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: 0x400000, Len: 1}}, 0); err == nil {
		return errors.New("the memory of the first process can be read")
	}
	if fd, err := unix.PidfdOpen(pid, 0); err == nil {
		defer func() { _ = unix.Close(fd) }()
		if _, err := unix.PidfdGetfd(fd, 0, 0); err == nil {
			return errors.New("files of the first process can be taken")
		}
	}
	return nil
}

func tryNewNamespaces(wire.Probe) error {
	// unshare(0) changes nothing, and clone with these flags and no signal fails for other reasons.
	if err := unix.Unshare(0); err == nil {
		return errors.New("unshare exists")
	}
	if err := unix.Setns(-1, 0); !errors.Is(err, unix.ENOSYS) {
		return errors.New("setns exists")
	}
	// CLONE_THREAD without CLONE_VM is refused by the kernel, so that nothing is made.
	_, _, e := unix.RawSyscall6(unix.SYS_CLONE, unix.CLONE_NEWUSER|unix.CLONE_THREAD, 0, 0, 0, 0, 0)
	if e != unix.EPERM {
		return fmt.Errorf("clone makes user namespaces: %w", e)
	}
	return nil
}

func tryMount(wire.Probe) error {
	if err := unix.Mount("none", "/tmp", "tmpfs", 0, ""); err == nil {
		return errors.New("file systems can be mounted")
	}
	if err := unix.Unmount("/proc", unix.MNT_DETACH); err == nil {
		return errors.New("file systems can be taken away")
	}
	if err := unix.Chroot("."); err == nil {
		return errors.New("the root folder can be changed")
	}
	return nil
}

// tryKernel tries the calls with which programs of the kernel have been attacked most.
func tryKernel(wire.Probe) error {
	for _, c := range []struct {
		name string
		nr   uintptr
	}{
		{"bpf", unix.SYS_BPF},
		{"perf_event_open", unix.SYS_PERF_EVENT_OPEN},
		{"userfaultfd", unix.SYS_USERFAULTFD},
		{"io_uring_setup", unix.SYS_IO_URING_SETUP},
		{"keyctl", unix.SYS_KEYCTL},
		{"add_key", unix.SYS_ADD_KEY},
		{"open_by_handle_at", unix.SYS_OPEN_BY_HANDLE_AT},
		{"fsopen", unix.SYS_FSOPEN},
		{"open_tree", unix.SYS_OPEN_TREE},
		{"shmget", unix.SYS_SHMGET},
		{"mq_open", unix.SYS_MQ_OPEN},
		{"fanotify_init", unix.SYS_FANOTIFY_INIT},
		{"vmsplice", unix.SYS_VMSPLICE},
		{"init_module", unix.SYS_INIT_MODULE},
		{"reboot", unix.SYS_REBOOT},
	} {
		// No call does anything with these arguments where it exists.
		bad := ^uintptr(0)
		if _, _, e := unix.RawSyscall6(c.nr, bad, bad, bad, bad, bad, 0); e != unix.ENOSYS {
			return fmt.Errorf("the system call %s exists", c.name)
		}
	}
	return nil
}

// tryTerminal tries to type into a terminal.
func tryTerminal(wire.Probe) error {
	for fd := range 3 {
		c := byte(0)
		_, _, e := unix.RawSyscall(unix.SYS_IOCTL, uintptr(fd), unix.TIOCSTI, uintptr(unsafe.Pointer(&c)))
		if e == 0 {
			return fmt.Errorf("descriptor %d is a terminal that can be typed into", fd)
		}
	}
	return nil
}

// tryNamespace compares a namespace with the host's.
func tryNamespace(kind string) func(wire.Probe) error {
	return func(p wire.Probe) error {
		switch {
		case p.Mode == wire.Minimal,
			p.Mode == wire.Rooted && kind == "user",
			p.Network == wire.Host && kind == "net":
			return nil
		case kind == "pid" && os.Getppid() != 1:
			return errors.New("the parent is not the first process")
		}
		name, err := os.Readlink("/proc/self/ns/" + kind)
		if errors.Is(err, os.ErrNotExist) {
			return nil // there is no /proc, and nothing to find out with
		}
		if err != nil {
			return fmt.Errorf("reading the name of the namespace: %w", err)
		}
		if name == p.Spaces[kind] {
			return errors.New("it is the host's")
		}
		return nil
	}
}
