package main

import (
	"encoding/binary"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// judge runs a filter on a call. The machine of the package reads packets, and so the data in the order
// of the network; the kernel reads it in the processor's.
func judge(t *testing.T, s sandboxed, arch uint32, nr uintptr, args ...uint64) uint32 {
	t.Helper()
	vm, err := bpf.NewVM(program(s))
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, 64)
	binary.BigEndian.PutUint32(data[offNumber:], uint32(nr))
	binary.BigEndian.PutUint32(data[offArch:], arch)
	for i, a := range args {
		binary.BigEndian.PutUint32(data[offArgs+8*i:], uint32(a)) // where the program looks for the low half
	}
	got, err := vm.Run(data)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(got)
}

func TestFilter(t *testing.T) {
	const (
		allowed = unix.SECCOMP_RET_ALLOW
		killed  = unix.SECCOMP_RET_KILL_PROCESS
	)
	errno := func(e unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(e) }
	own := sandboxed{sockets: true, numbers: true, signals: true, others: true}
	for _, tc := range []struct {
		name string
		in   sandboxed
		nr   uintptr
		args []uint64
		want uint32
	}{
		{"read", own, unix.SYS_READ, nil, allowed},
		{"unknown", own, 999, nil, errno(unix.ENOSYS)},
		{"clone3", own, unix.SYS_CLONE3, nil, errno(unix.ENOSYS)},
		{"fork", own, unix.SYS_CLONE, []uint64{uint64(unix.SIGCHLD)}, allowed},
		{"a user namespace", own, unix.SYS_CLONE, []uint64{unix.CLONE_NEWUSER | uint64(unix.SIGCHLD)}, errno(unix.EPERM)},
		{"a network namespace", own, unix.SYS_CLONE, []uint64{unix.CLONE_NEWNET}, errno(unix.EPERM)},
		{"unshare", own, unix.SYS_UNSHARE, nil, errno(unix.ENOSYS)},
		{"ptrace", own, unix.SYS_PTRACE, nil, errno(unix.ENOSYS)},
		{"mount", own, unix.SYS_MOUNT, nil, errno(unix.ENOSYS)},
		{"a filter", own, unix.SYS_SECCOMP, []uint64{unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC}, allowed},
		{"a filter with a listener", own, unix.SYS_SECCOMP, []uint64{unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER}, errno(unix.EINVAL)},
		{"strict mode", own, unix.SYS_SECCOMP, []uint64{unix.SECCOMP_SET_MODE_STRICT}, errno(unix.EINVAL)},
		{"tcp", own, unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_STREAM | unix.SOCK_CLOEXEC}, allowed},
		{"raw", own, unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_RAW}, errno(unix.ESOCKTNOSUPPORT)},
		{"unix", own, unix.SYS_SOCKET, []uint64{unix.AF_UNIX, unix.SOCK_STREAM}, errno(unix.EAFNOSUPPORT)},
		{"tcp without a network", sandboxed{numbers: true, signals: true}, unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_STREAM}, errno(unix.EACCES)},
		{"a pair of streams", own, unix.SYS_SOCKETPAIR, []uint64{unix.AF_UNIX, unix.SOCK_STREAM}, allowed},
		{"a pair of datagrams", own, unix.SYS_SOCKETPAIR, []uint64{unix.AF_UNIX, unix.SOCK_DGRAM}, errno(unix.ESOCKTNOSUPPORT)},
		{"reading", own, unix.SYS_OPENAT, []uint64{0, 0, unix.O_RDONLY, 0o4755}, allowed},
		{"making", own, unix.SYS_OPENAT, []uint64{0, 0, unix.O_CREAT, 0o755}, allowed},
		{"making set-user-ID", own, unix.SYS_OPENAT, []uint64{0, 0, unix.O_CREAT, 0o4755}, errno(unix.EPERM)},
		{"a nameless set-user-ID file", own, unix.SYS_OPENAT, []uint64{0, 0, unix.O_TMPFILE, 0o4755}, errno(unix.EPERM)},
		{"a folder", own, unix.SYS_OPENAT, []uint64{0, 0, unix.O_DIRECTORY, 0o4755}, allowed},
		{"chmod", own, unix.SYS_FCHMODAT, []uint64{0, 0, 0o755}, allowed},
		{"chmod set-group-ID", own, unix.SYS_FCHMODAT, []uint64{0, 0, 0o2755}, errno(unix.EPERM)},
		{"typing", own, unix.SYS_IOCTL, []uint64{0, unix.TIOCSTI}, errno(unix.ENOTTY)},
		{"a terminal?", own, unix.SYS_IOCTL, []uint64{0, unix.TCGETS}, allowed},
		{"a subreaper", own, unix.SYS_PRCTL, []uint64{unix.PR_SET_CHILD_SUBREAPER, 1}, errno(unix.EINVAL)},
		{"signals", own, unix.SYS_KILL, []uint64{1, 9}, allowed},
		{"signals that go out", sandboxed{}, unix.SYS_KILL, []uint64{1, 9}, errno(unix.EPERM)},
		{"signals by a file", sandboxed{}, unix.SYS_FCNTL, []uint64{0, unix.F_SETOWN, 1}, errno(unix.EPERM)},
		{"another file operation", sandboxed{}, unix.SYS_FCNTL, []uint64{0, unix.F_GETFL}, allowed},
		{"a mode of others", sandboxed{}, unix.SYS_FCHMODAT, []uint64{0, 0, 0o755}, errno(unix.EPERM)},
		{"times of others", sandboxed{}, unix.SYS_UTIMENSAT, nil, errno(unix.EPERM)},
		{"own limits", sandboxed{}, unix.SYS_PRLIMIT64, []uint64{0}, allowed},
		{"limits of others", sandboxed{}, unix.SYS_PRLIMIT64, []uint64{1}, errno(unix.EPERM)},
		{"limits in a namespace", own, unix.SYS_PRLIMIT64, []uint64{1}, allowed},
		{"another form of a call", own, foreignFrom + 1, nil, killed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := judge(t, tc.in, auditArch, tc.nr, tc.args...); got != tc.want {
				t.Errorf("got %#x, want %#x", got, tc.want)
			}
		})
	}
	if got := judge(t, own, unix.AUDIT_ARCH_I386, unix.SYS_READ); got != killed {
		t.Errorf("another architecture: got %#x", got)
	}
}

// What a filter says of every number is what the rules say: the search finds the right span.
func TestSearchFindsEveryCall(t *testing.T) {
	for _, s := range []sandboxed{{}, {true, true, true, true}, {sockets: true}} {
		r := rules(s)
		for nr := range uintptr(700) {
			want := unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
			c, known := r[nr]
			if a, ok := c.(always); ok {
				want = a.Val
			} else if known {
				continue // depends on arguments
			}
			if got := judge(t, s, auditArch, nr); got != want {
				t.Errorf("call %d: got %#x, want %#x", nr, got, want)
			}
		}
	}
}

func TestProgramFits(t *testing.T) {
	b, err := assembled(sandboxed{true, true, true, true})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(b) / sockFilter; n > 4096 { // BPF_MAXINSNS
		t.Errorf("the program has %d instructions", n)
	}
}
