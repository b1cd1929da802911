package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/agents/sandbox/wire"
)

// ours are the folders that the sandbox has of its own, whatever the host has there.
var ours = []string{"dev", "proc", "sys", "tmp", "run", "workspace"}

// binds shows what the request asks for, the outer folders first.
func (r *root) binds() error {
	all := slices.Clone(r.req.Binds)
	slices.SortStableFunc(all, func(a, b wire.Bind) int {
		return cmp.Compare(strings.Count(path.Clean(a.Target), "/"), strings.Count(path.Clean(b.Target), "/"))
	})
	slices.SortStableFunc(all, func(a, b wire.Bind) int { return cmp.Compare(boolean(a.Target != "/"), boolean(b.Target != "/")) })
	for _, b := range all {
		if b.Target == "/" {
			if err := r.host(b); err != nil {
				return fmt.Errorf("showing the host: %w", err)
			}
			continue
		}
		if err := r.bind(b); err != nil {
			return fmt.Errorf("showing %s as %s: %w", b.Source, b.Target, err)
		}
	}
	return nil
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

// host shows everything that is in a folder, usually /, at the root, but for what the sandbox has of its
// own.
func (r *root) host(b wire.Bind) error {
	entries, err := os.ReadDir(oldRoot + b.Source)
	if err != nil {
		return err
	}
	for _, e := range entries {
		p := path.Join(b.Source, e.Name())
		if slices.Contains(ours, e.Name()) || slices.Contains(r.req.System, "/"+e.Name()) {
			continue
		}
		if slices.Contains(r.req.Hidden, p) {
			dir := newRoot + "/" + e.Name()
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
			continue
		}
		switch {
		case e.Type()&os.ModeSymlink != 0:
			link, err := os.Readlink(oldRoot + p)
			if err == nil {
				err = ignore(os.Symlink(link, newRoot+"/"+e.Name()), os.ErrExist)
			}
			if err != nil {
				return err
			}
		case e.IsDir() || e.Type().IsRegular():
			if err := r.bind(wire.Bind{Source: p, Target: "/" + e.Name(), Writable: b.Writable}); err != nil {
				return err
			}
		}
	}
	return nil
}

// bind shows one file or folder. No link is followed: those of the request are resolved, and others
// were put there by somebody else.
func (r *root) bind(b wire.Bind) error {
	source, err := within(r.old, b.Source)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(source) }()
	tree, err := unix.OpenTree(source, "", unix.AT_EMPTY_PATH|unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		return fmt.Errorf("taking the mount: %w", err)
	}
	defer func() { _ = unix.Close(tree) }()
	attr := uint64(unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV)
	if !b.Writable && !off(layerReadOnly) {
		attr |= unix.MOUNT_ATTR_RDONLY
	}
	if err := setattr(tree, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE, attr); err != nil {
		return fmt.Errorf("protecting the mount: %w", err)
	}
	var st unix.Stat_t
	if err := unix.Fstat(source, &st); err != nil {
		return err
	}
	target, err := place(b.Target, st.Mode&unix.S_IFMT == unix.S_IFDIR)
	if err != nil {
		return fmt.Errorf("making a place for it: %w", err)
	}
	defer func() { _ = unix.Close(target) }()
	if err := unix.MoveMount(tree, "", target, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH); err != nil {
		return fmt.Errorf("mounting it: %w", err)
	}
	if b.Writable {
		r.writable = append(r.writable, b.Target)
	}
	return r.cover(b)
}

// within opens a path below a root folder, following no link. It must not be the root itself.
func within(root int, p string) (int, error) {
	return unix.Openat2(root, strings.TrimPrefix(path.Clean(p), "/"), &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS,
	})
}

// place opens a path of the new root to mount something on, and makes it where it is missing.
func place(p string, dir bool) (int, error) {
	root, err := unix.Open(newRoot, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	defer func() { _ = unix.Close(root) }()
	p = path.Clean(p)
	fd, err := within(root, p)
	if !errors.Is(err, unix.ENOENT) {
		return fd, err
	}
	parent := root
	if d := path.Dir(p); d != "/" {
		if parent, err = place(d, true); err != nil {
			return -1, err
		}
		defer func() { _ = unix.Close(parent) }()
	}
	if dir {
		err = unix.Mkdirat(parent, path.Base(p), 0o755)
	} else {
		err = unix.Mknodat(parent, path.Base(p), unix.S_IFREG|0o644, 0)
	}
	if err != nil {
		return -1, err
	}
	return within(root, p)
}
