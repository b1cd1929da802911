package main

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/agents/sandbox/wire"
)

const (
	readable = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	// writable has no sockets and devices: nobody needs them, and others might take them for their own.
	writable = readable | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE |
		unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_MAKE_DIR |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO |
		unix.LANDLOCK_ACCESS_FS_REFER
	// device is what a device such as /dev/null is for. Control operations are not.
	device = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE
	// ofFile are the rights that a rule about a single file may give.
	ofFile = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
)

// lock is a rule set of Landlock that is being written.
type lock struct {
	abi  int
	fs   uint64 // rights to files that the kernel knows of
	fd   int
	errs []error
}

// landlockABI is the version of Landlock that the kernel has, 0 for none.
func landlockABI() int {
	v, _, e := unix.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if e != 0 {
		return 0
	}
	return int(v)
}

// rightsOf are the rights to files that a version of Landlock knows.
func rightsOf(abi int) uint64 {
	fs := uint64(unix.LANDLOCK_ACCESS_FS_MAKE_SYM<<1 - 1) // the 13 of the first version
	if abi >= 2 {
		fs |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if abi >= 3 {
		fs |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if abi >= 5 {
		fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	return fs
}

// newLock begins a rule set that refuses all that it knows: access to files, TCP unless the network is
// the host's, abstract unix sockets of others and signals to others.
func newLock(abi int, n wire.Network) (*lock, error) {
	l := &lock{abi: abi, fs: rightsOf(abi)}
	attr := unix.LandlockRulesetAttr{Access_fs: l.fs}
	size := unsafe.Sizeof(attr.Access_fs)
	if abi >= 4 {
		size += unsafe.Sizeof(attr.Access_net)
		if n != wire.Host {
			attr.Access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
		}
	}
	if abi >= 6 {
		size += unsafe.Sizeof(attr.Scoped)
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	fd, _, e := unix.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if e != 0 {
		return nil, fmt.Errorf("making a Landlock rule set: %w", e)
	}
	l.fd = int(fd)
	if n == wire.Proxy && abi >= 4 {
		port := netPortAttr{unix.LANDLOCK_ACCESS_NET_CONNECT_TCP, wire.ProxyPort}
		l.add(ruleNetPort, unsafe.Pointer(&port))
	}
	return l, nil
}

// ruleNetPort is LANDLOCK_RULE_NET_PORT of the kernel.
const ruleNetPort = 2

// netPortAttr is struct landlock_net_port_attr of the kernel.
type netPortAttr struct{ access, port uint64 }

func (l *lock) add(kind uintptr, rule unsafe.Pointer) {
	if _, _, e := unix.RawSyscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(l.fd), kind, uintptr(rule), 0, 0, 0); e != 0 {
		l.errs = append(l.errs, e)
	}
}

// grant gives rights to a file, or to a folder and all in it. A path that does not exist is left out. No
// link is followed: somebody may have put it there since the path was resolved.
func (l *lock) grant(path string, rights uint64) {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if errors.Is(err, unix.ENOENT) {
		return
	}
	if err != nil {
		l.errs = append(l.errs, fmt.Errorf("%s: %w", path, err))
		return
	}
	defer func() { _ = unix.Close(fd) }()
	l.grantFD(fd, rights)
}

func (l *lock) grantFD(fd int, rights uint64) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		l.errs = append(l.errs, err)
		return
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= ofFile
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights & l.fs, Parent_fd: int32(fd)}
	l.add(unix.LANDLOCK_RULE_PATH_BENEATH, unsafe.Pointer(&rule))
}

// enforce restricts the calling thread, and what it starts, for good.
func (l *lock) enforce() error {
	defer func() { _ = unix.Close(l.fd) }()
	if err := errors.Join(l.errs...); err != nil {
		return fmt.Errorf("writing Landlock rules: %w", err)
	}
	if _, _, e := unix.RawSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(l.fd), 0, 0); e != 0 {
		return fmt.Errorf("enforcing Landlock rules: %w", e)
	}
	return nil
}
