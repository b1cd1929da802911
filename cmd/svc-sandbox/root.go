package main

import (
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/agents/sandbox/wire"
)

// Where the new root and the host's are while they exist side by side, and the memory file system
// that all writable folders of the sandbox's own are on.
const (
	newRoot = "/new"
	oldRoot = "/old"
	scratch = "/scratch"
)

// devices are the devices that a command may use.
var devices = []string{"null", "zero", "full", "random", "urandom"}

// own are the folders of the sandbox's own, by their names on the memory file system.
var own = []struct{ name, target string }{
	{"work", wire.Workspace}, {"tmp", "/tmp"}, {"shm", "/dev/shm"},
}

// root builds the sandbox's view of files. Everything is done by the first process of the mount
// namespace, before anything else runs in it.
type root struct {
	req *wire.Request
	uid int
	gid int

	old      int      // the host's root
	covers   []string // covers on hidden folders, writable until the root is finished
	writable []string // binds that are
	lacks    []string
}

// enter makes the view and changes into it.
func (r *root) enter() error {
	for _, step := range []func() error{r.begin, r.system, r.devices, r.folders, r.binds, r.proc, r.finish} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// begin puts the old root beside an empty new one.
func (r *root) begin() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("separating the mounts from the host's: %w", err)
	}
	base, err := firstFolder("/tmp", "/run", "/var", "/usr")
	if err != nil {
		return err
	}
	if err := memory(base, "mode=755,size=1m,nr_inodes=1k"); err != nil {
		return err
	}
	if err := os.Mkdir(base+oldRoot, 0o700); err != nil {
		return err
	}
	if err := unix.PivotRoot(base, base+oldRoot); err != nil {
		return fmt.Errorf("changing the root: %w", err)
	}
	if err := os.Chdir("/"); err != nil {
		return err
	}
	for _, dir := range []string{newRoot, scratch} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
	}
	if err := memory(newRoot, "mode=755,size=1m,nr_inodes=8k"); err != nil {
		return err
	}
	r.old, err = unix.Open(oldRoot, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	return err
}

// memory mounts a file system in memory.
func memory(dir, options string) error {
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return fmt.Errorf("mounting a file system in memory: %w", err)
	}
	return nil
}

func firstFolder(dirs ...string) (string, error) {
	for _, dir := range dirs {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() {
			return dir, nil
		}
	}
	return "", errors.New("this host has none of the folders " + strings.Join(dirs, " "))
}

// system shows what the settings list, and writes the few files that programs look up users and names
// in.
func (r *root) system() error {
	for _, p := range slices.Sorted(slices.Values(r.req.System)) {
		if err := r.mirror(p); err != nil {
			return fmt.Errorf("showing %s: %w", p, err)
		}
	}
	if slices.ContainsFunc(r.req.Binds, func(b wire.Bind) bool { return b.Target == "/" || b.Target == "/etc" }) {
		return nil
	}
	if err := os.MkdirAll(newRoot+"/etc", 0o755); err != nil {
		return err
	}
	for name, text := range map[string]string{
		"passwd":   fmt.Sprintf("root:x:0:0:root:/workspace:/bin/sh\nsandbox:x:%d:%d:sandbox:/workspace:/bin/sh\n", r.uid, r.gid),
		"group":    fmt.Sprintf("root:x:0:\nsandbox:x:%d:\n", r.gid),
		"hosts":    "127.0.0.1 localhost\n::1 localhost\n",
		"hostname": "sandbox\n",
	} {
		f, err := os.OpenFile(newRoot+"/etc/"+name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, os.ErrExist) || errors.Is(err, unix.EROFS) {
			continue // the host's is shown
		}
		if err != nil {
			return err
		}
		_, err = f.WriteString(text)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// mirror shows a path of the host at its own place: a link as the same link, a file or folder
// read-only. One that does not exist is left out.
func (r *root) mirror(p string) error {
	if p == "/" {
		return errors.New("the whole host is shown with a bind only")
	}
	link, err := os.Readlink(oldRoot + p)
	switch {
	case err == nil:
		if err := os.MkdirAll(newRoot+path.Dir(p), 0o755); err != nil {
			return err
		}
		return ignore(os.Symlink(link, newRoot+p), os.ErrExist)
	case errors.Is(err, os.ErrNotExist):
		return nil
	}
	return ignore(r.bind(wire.Bind{Source: p, Target: p}), os.ErrNotExist)
}

func ignore(err, unless error) error {
	if errors.Is(err, unless) {
		return nil
	}
	return err
}

// devices shows a few devices, which need no mount of their own kind.
func (r *root) devices() error {
	if err := ignore(os.Mkdir(newRoot+"/dev", 0o755), os.ErrExist); err != nil {
		return err
	}
	for _, name := range devices {
		if err := os.WriteFile(newRoot+"/dev/"+name, nil, 0o644); err != nil {
			return err
		}
		if err := unix.Mount(oldRoot+"/dev/"+name, newRoot+"/dev/"+name, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("showing /dev/%s: %w", name, err)
		}
	}
	for name, target := range map[string]string{"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"} {
		if err := os.Symlink(target, newRoot+"/dev/"+name); err != nil {
			return err
		}
	}
	return nil
}

// folders makes the workspace and the other folders that the command may write to. They are on one file
// system in memory, so that its size is the size of all.
func (r *root) folders() error {
	if err := memory(scratch, fmt.Sprintf("mode=755,size=%d,nr_inodes=%d", r.req.Limits.Workspace, r.req.Limits.Files+len(own)+1)); err != nil {
		return err
	}
	for _, o := range own {
		dir := scratch + "/" + o.name
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
		if err := os.Chown(dir, r.uid, r.gid); err != nil {
			return err
		}
		if r.shown(o.target) {
			continue
		}
		if err := ignore(os.MkdirAll(newRoot+o.target, 0o755), os.ErrExist); err != nil {
			return err
		}
		if err := unix.Mount(dir, newRoot+o.target, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("mounting %s: %w", o.target, err)
		}
	}
	return nil
}

// shown reports whether a bind has that place already.
func (r *root) shown(target string) bool {
	return slices.ContainsFunc(r.req.Binds, func(b wire.Bind) bool { return b.Target == target })
}

// proc shows the sandbox's processes, without the first, and nothing of the kernel's settings.
func (r *root) proc() error {
	if err := ignore(os.Mkdir(newRoot+"/proc", 0o555), os.ErrExist); err != nil {
		return err
	}
	flags := uintptr(unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC | unix.MS_RDONLY)
	if off(layerPID) {
		return nil
	}
	err := unix.Mount("proc", newRoot+"/proc", "proc", flags, "subset=pid,hidepid=ptraceable")
	if errors.Is(err, unix.EPERM) {
		r.lacks = append(r.lacks, wire.NoProc) // something is mounted in the host's, as containers do
		return nil
	}
	if err != nil {
		return fmt.Errorf("mounting /proc: %w", err)
	}
	return nil
}

// finish takes the host away and closes the root.
func (r *root) finish() error {
	_ = unix.Close(r.old)
	if !off(layerReadOnly) {
		for _, dir := range append(r.covers, newRoot) {
			if err := setattr(unix.AT_FDCWD, dir, 0, unix.MOUNT_ATTR_RDONLY); err != nil {
				return fmt.Errorf("closing %s: %w", strings.TrimPrefix(dir, newRoot), err)
			}
		}
	}
	if err := os.Chdir(newRoot); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("changing the root for good: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("taking the host's files away: %w", err)
	}
	return os.Chdir("/")
}

// setattr sets attributes of a mount.
func setattr(fd int, path string, flags uint, attr uint64) error {
	return unix.MountSetattr(fd, path, flags, &unix.MountAttr{Attr_set: attr})
}
