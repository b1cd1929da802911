package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/agents/sandbox/wire"
)

// giveUp takes from the calling thread, and from what it starts, all that a command must not have.
// Other threads of this process keep what they have: they end the sandbox and collect its files.
func (in *insider) giveUp() error {
	// The command may have the same user. It must not see into this process.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("closing this process to others: %w", err)
	}
	if !off(layerNoNew) {
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return fmt.Errorf("refusing new privileges: %w", err)
		}
	}
	if !off(layerCaps) {
		if err := dropBounding(); err != nil {
			return err
		}
	}
	in.missing(in.Landlock)
	if err := in.landlock(in.Landlock); err != nil {
		return err
	}
	if !off(layerSeccomp) {
		if err := filter(in.Filter); err != nil {
			return err
		}
	}
	if err := in.become(); err != nil {
		return err
	}
	if off(layerCaps) {
		return nil
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("giving up capabilities: %w", err)
	}
	return nil
}

// missing notes what this kernel's Landlock cannot do.
func (in *insider) missing(abi int) {
	if abi == 0 {
		in.degraded = append(in.degraded, wire.NoLandlock)
		return
	}
	if abi < 4 && in.req.Network == wire.Proxy {
		in.degraded = append(in.degraded, wire.NoLandlockNet)
	}
	if abi < 6 {
		in.degraded = append(in.degraded, wire.NoLandlockScope)
	}
}

// dropBounding takes away what a program could get back when it is executed as root.
func dropBounding() error {
	for c := 0; ; c++ {
		if has, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, uintptr(c), 0, 0, 0); err != nil || has < 0 {
			break // there are no more
		} else if has == 0 {
			continue
		}
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0); err != nil {
			if c == 0 && os.Geteuid() != 0 {
				return nil // without a user namespace, an ordinary user has none and gets none
			}
			return fmt.Errorf("giving up capability %d: %w", c, err)
		}
	}
	const noRoot = 1<<0 | 1<<1 // SECBIT_NOROOT, and its lock
	if err := unix.Prctl(unix.PR_SET_SECUREBITS, noRoot, 0, 0, 0); err != nil {
		return fmt.Errorf("refusing capabilities to root: %w", err)
	}
	return nil
}

// landlock restricts what files and ports the command reaches.
func (in *insider) landlock(abi int) error {
	minimal := in.req.Mode == wire.Minimal
	if abi == 0 {
		if minimal && !off(layerLandlock) {
			return fmt.Errorf("this host allows no namespaces, and its kernel has no Landlock")
		}
		return nil
	}
	l, err := newLock(abi, in.req.Network)
	if err != nil {
		return err
	}
	if minimal {
		if err := in.grantMinimal(l); err != nil {
			return err
		}
	} else {
		l.grant("/", readable)
		for _, o := range own {
			l.grant(o.target, writable)
		}
		for _, path := range in.writable {
			l.grant(path, writable)
		}
	}
	for _, name := range devices {
		l.grant("/dev/"+name, device)
	}
	return l.enforce()
}

// grantMinimal gives rights where no mount hides anything: never to a folder that holds a hidden path,
// but to all else in it.
func (in *insider) grantMinimal(l *lock) error {
	for _, p := range in.req.System {
		if resolved, err := filepath.EvalSymlinks(p); err == nil {
			in.grantAround(l, resolved, readable)
		}
	}
	for _, b := range in.req.Binds {
		if b.Source != b.Target {
			return &wire.Fault{Part: wire.PartRequest, Text: fmt.Sprintf("%s cannot be shown as %s: this host allows no mounts", b.Source, b.Target)}
		}
		rights := uint64(readable)
		if b.Writable {
			rights = writable
		}
		in.grantAround(l, b.Source, rights)
	}
	l.grant(in.req.Workspace, writable)
	return nil
}

func (in *insider) grantAround(l *lock, dir string, rights uint64) {
	holds := slices.ContainsFunc(in.req.Hidden, func(h string) bool { _, ok := below(dir, h); return ok })
	if !holds {
		l.grant(dir, rights)
		return
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		p := filepath.Join(dir, e.Name())
		if dir == "/" && slices.Contains(ours, e.Name()) || e.Type()&os.ModeSymlink != 0 || slices.Contains(in.req.Hidden, p) {
			continue
		}
		in.grantAround(l, p, rights)
	}
}

// become takes the user and group of the command. It concerns this thread only.
func (in *insider) become() error {
	if os.Geteuid() != 0 || in.UID == 0 {
		return nil
	}
	var none [1]uint32
	if _, _, e := unix.RawSyscall(unix.SYS_SETGROUPS, 0, uintptr(unsafe.Pointer(&none)), 0); e != 0 {
		return fmt.Errorf("giving up groups: %w", e)
	}
	gid, uid := uintptr(in.GID), uintptr(in.UID)
	if _, _, e := unix.RawSyscall(unix.SYS_SETRESGID, gid, gid, gid); e != 0 {
		return fmt.Errorf("becoming group %d: %w", in.GID, e)
	}
	if _, _, e := unix.RawSyscall(unix.SYS_SETRESUID, uid, uid, uid); e != 0 {
		return fmt.Errorf("becoming user %d: %w", in.UID, e)
	}
	return nil
}

// limit sets resource limits for this process, which the command inherits.
func (in *insider) limit() error {
	if off(layerLimits) {
		return nil
	}
	l := in.req.Limits
	type limit struct {
		resource int
		value    uint64
	}
	limits := []limit{
		{unix.RLIMIT_CORE, 0},
		{unix.RLIMIT_FSIZE, uint64(l.Workspace)},
		{unix.RLIMIT_MEMLOCK, 64 << 10},
		{unix.RLIMIT_MSGQUEUE, 0},
		{unix.RLIMIT_SIGPENDING, 1024},
		{unix.RLIMIT_NICE, 0},
		{unix.RLIMIT_RTPRIO, 0},
		{unix.RLIMIT_NOFILE, uint64(l.OpenFiles)},
		// RLIMIT_AS would end programs that reserve far more than they use, this one for example.
		{unix.RLIMIT_DATA, uint64(l.Memory)},
	}
	if in.MaxTasks > 0 {
		limits = append(limits, limit{unix.RLIMIT_NPROC, uint64(in.MaxTasks)})
	}
	for _, r := range limits {
		var now unix.Rlimit
		if err := unix.Getrlimit(r.resource, &now); err == nil && now.Max < r.value {
			r.value = now.Max // the host's is lower
		}
		if err := unix.Setrlimit(r.resource, &unix.Rlimit{Cur: r.value, Max: r.value}); err != nil {
			return fmt.Errorf("setting limit %d: %w", r.resource, err)
		}
	}
	return nil
}

// lookPath finds a program as a shell does, in the PATH of the command's environment.
func lookPath(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	search := ""
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, "PATH="); ok {
			search = v
		}
	}
	for _, dir := range filepath.SplitList(search) {
		p := filepath.Join(dir, name)
		if !filepath.IsAbs(p) {
			continue
		}
		if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return p, nil
		}
	}
	return "", fmt.Errorf("it is not installed, or not visible in the sandbox (looked in %s)", search)
}
