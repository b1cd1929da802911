package main

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/agents/sandbox/wire"
)

// cover hides what a bind shows and must not: each hidden path that is in the bind's source gets an
// empty folder, or /dev/null, mounted on it. Binds of something in it come later and are on top.
func (r *root) cover(b wire.Bind) error {
	if off(layerMasks) {
		return nil
	}
	for _, hidden := range r.req.Hidden {
		rel, ok := below(b.Source, hidden)
		if !ok {
			continue
		}
		err := r.pin(b, rel)
		if err == nil {
			err = r.coverOne(path.Join(b.Target, rel))
		}
		if err != nil {
			return fmt.Errorf("hiding %s: %w", hidden, err)
		}
	}
	return nil
}

// pin keeps the folders between a writable bind and what it hides in their places: a command could
// rename them otherwise, and the next one would see under a new name what is hidden under the old.
func (r *root) pin(b wire.Bind, rel string) error {
	if !b.Writable {
		return nil
	}
	dir := newRoot + b.Target
	for name := range strings.SplitSeq(path.Dir(rel), "/") {
		if name == "." {
			return nil
		}
		dir += "/" + name
		err := unix.Mount(dir, dir, "", unix.MS_BIND|unix.MS_REC, "")
		if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *root) coverOne(target string) error {
	full := newRoot + target
	var st unix.Stat_t
	err := unix.Lstat(full, &st)
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR):
		return nil // there is nothing to hide
	case errors.Is(err, unix.EACCES):
		return nil // it cannot be reached
	case err != nil:
		return err
	case st.Mode&unix.S_IFMT == unix.S_IFDIR:
		if err := memory(full, "mode=755,size=64k,nr_inodes=256"); err != nil {
			return err
		}
		r.covers = append(r.covers, full)
		return nil
	case st.Mode&unix.S_IFMT == unix.S_IFLNK:
		return nil // what it leads to is hidden by its own name
	}
	return unix.Mount(oldRoot+"/dev/null", full, "", unix.MS_BIND, "")
}

// below gives the path of p in dir. It is empty and not ok when p is elsewhere, or dir itself.
func below(dir, p string) (rel string, ok bool) {
	dir, p = path.Clean(dir), path.Clean(p)
	if dir != "/" {
		dir += "/"
	}
	if len(p) <= len(dir) || !strings.HasPrefix(p, dir) {
		return "", false
	}
	return p[len(dir):], true
}
