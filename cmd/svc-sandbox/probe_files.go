package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/agents/sandbox/wire"
)

// tryWriteSystem tries to put a file where others would run or read it.
func tryWriteSystem(wire.Probe) error {
	for _, dir := range []string{"/", "/usr", "/usr/bin", "/etc", "/dev", "/proc", "/var", "/root", "/home", "/run"} {
		path := filepath.Join(dir, "svc-sandbox-probe")
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			_ = f.Close()
			_ = os.Remove(path)
			return fmt.Errorf("%s can be written to", dir)
		}
	}
	return nil
}

// tryMounts looks at the mounts themselves, which other layers protect as well.
func tryMounts(p wire.Probe) error {
	if p.Mode == wire.Minimal {
		return nil
	}
	for _, path := range []string{"/", "/usr"} {
		var st unix.Statfs_t
		if err := unix.Statfs(path, &st); err == nil && st.Flags&unix.ST_RDONLY == 0 {
			return fmt.Errorf("%s is not mounted read-only", path)
		}
	}
	return nil
}

// trySecret tries to read, and to change, a hidden file.
func trySecret(p wire.Probe) error {
	if _, err := os.ReadFile(p.Secret); err == nil {
		return errors.New("a hidden file can be read")
	}
	if f, err := os.OpenFile(p.Secret, os.O_WRONLY|os.O_CREATE, 0o600); err == nil {
		_ = f.Close()
		return errors.New("a hidden file can be written")
	}
	return nil
}

// tryAttributes tries to change what can be changed of a hidden file without opening it.
func tryAttributes(p wire.Probe) error {
	for _, path := range []string{p.Secret, filepath.Dir(p.Secret)} {
		if unix.Chmod(path, 0o777) == nil {
			return errors.New("the mode of a hidden file can be changed")
		}
		if unix.Chown(path, -1, os.Getgid()) == nil {
			return errors.New("the group of a hidden file can be changed")
		}
		if unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{{Sec: 1}, {Sec: 1}}, 0) == nil {
			return errors.New("the times of a hidden file can be changed")
		}
	}
	if unix.Truncate(p.Secret, 6) == nil {
		return errors.New("a hidden file can be cut")
	}
	return nil
}

// tryProc tries the files of the kernel that reach into other processes, or into the kernel.
func tryProc(p wire.Probe) error {
	paths := []string{
		"/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/proc/kcore", "/proc/kallsyms", "/proc/keys",
		"/proc/1/environ", "/proc/1/mem", "/proc/1/root/etc/passwd", "/proc/1/cwd/.", "/sys/kernel/uevent_helper",
		"/sys/fs/cgroup/release_agent", fmt.Sprintf("/proc/%d/environ", p.PID), fmt.Sprintf("/proc/%d/mem", p.PID),
		fmt.Sprintf("/proc/%d/root/etc/passwd", p.PID), fmt.Sprintf("/proc/%d/fd/1", p.PID),
	}
	for _, path := range paths {
		for _, flags := range []int{unix.O_RDONLY, unix.O_WRONLY} {
			if fd, err := unix.Open(path, flags|unix.O_CLOEXEC|unix.O_NONBLOCK, 0); err == nil {
				_ = unix.Close(fd)
				return fmt.Errorf("%s can be opened", path)
			}
		}
	}
	return nil
}

// tryDevices tries devices that a program has no use for, and to make one.
func tryDevices(p wire.Probe) error {
	for _, name := range []string{"mem", "kmem", "kmsg", "port", "vda", "sda", "nvme0n1", "kvm", "fuse", "tty", "tty0", "console", "ptmx", "net/tun", "loop-control", "mapper/control", "vhost-net"} {
		if fd, err := unix.Open("/dev/"+name, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY, 0); err == nil {
			_ = unix.Close(fd)
			return fmt.Errorf("/dev/%s can be opened", name)
		}
	}
	if p.Mode != wire.Minimal {
		entries, err := os.ReadDir("/dev")
		if err != nil {
			return fmt.Errorf("looking at /dev: %w", err)
		}
		for _, e := range entries {
			if e.Type()&os.ModeDevice != 0 && !slices.Contains(devices, e.Name()) {
				return fmt.Errorf("there is a device /dev/%s", e.Name())
			}
		}
	}
	for _, kind := range []uint32{unix.S_IFCHR, unix.S_IFBLK} {
		if err := unix.Mknod("probe-device", kind|0o600, int(unix.Mkdev(1, 1))); err == nil {
			_ = os.Remove("probe-device")
			return errors.New("a device can be made")
		}
	}
	return nil
}

// trySpecialFiles tries to leave a socket behind, for others to talk to.
func trySpecialFiles(wire.Probe) error {
	if err := unix.Mknod("probe-socket", unix.S_IFSOCK|0o600, 0); err == nil {
		_ = os.Remove("probe-socket")
		return errors.New("a socket can be made in the workspace")
	}
	return nil
}

// trySetUserID tries to make a program that others would run as this user.
func trySetUserID(wire.Probe) error {
	const name = "probe-program"
	defer func() { _ = os.Remove(name) }()
	if fd, err := unix.Open(name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC, 0o4755); err == nil {
		_ = unix.Close(fd)
		return errors.New("a set-user-ID program can be made when it is opened")
	}
	fd, err := unix.Open(name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC, 0o755)
	if err != nil {
		return fmt.Errorf("the workspace cannot be written to: %w", err)
	}
	defer func() { _ = unix.Close(fd) }()
	if unix.Chmod(name, 0o4755) == nil || unix.Fchmod(fd, 0o2755) == nil || unix.Fchmodat(unix.AT_FDCWD, name, 0o6755, 0) == nil {
		return errors.New("a program can be made set-user-ID")
	}
	return nil
}
