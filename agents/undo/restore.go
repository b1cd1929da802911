package undo

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Restored is what became of one file.
type Restored struct {
	Path    string `json:"path"`
	Removed bool   `json:"removed"` // it was not there before the run
}

// ChangedError names the files that are not what the run has left.
type ChangedError struct{ Paths []string }

func (e *ChangedError) Error() string {
	return "somebody has changed " + strings.Join(e.Paths, ", ") + " since; nothing was restored"
}

// maxCurrent is how much of a file is read to compare it, in bytes. No tool writes a longer one.
const maxCurrent = 64 << 20

// file is one file that a run has changed.
type file struct {
	path   string
	made   bool   // by the run's first change
	old    string // where the content from before is kept
	left   string // the hash of what the run has left
	broken bool   // somebody else has changed it between two changes of the run
}

// Restore brings the files of a run back to what they were, the one that was changed last first, and
// forgets the run. The error is [ErrNone], [*ChangedError], or that of a file; files before it are
// restored then, and Restore can be called again.
func (k *Keeper) Restore(run string, force bool) ([]Restored, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	dir, err := k.folder(run)
	if err != nil {
		return nil, err
	}
	changes, err := k.changes(dir)
	if err != nil {
		return nil, err
	}
	files := fold(dir, changes)
	var changed []string
	for _, f := range files {
		same, err := f.untouched()
		if err != nil {
			return nil, err
		}
		if !same {
			changed = append(changed, f.path)
		}
	}
	if len(changed) > 0 && !force {
		return nil, &ChangedError{changed}
	}
	var done []Restored
	for _, f := range files {
		if err := f.restore(); err != nil {
			return done, err
		}
		done = append(done, Restored{f.path, f.made})
	}
	if err := os.RemoveAll(dir); err != nil {
		return done, fmt.Errorf("forgetting what was kept: %w", err)
	}
	return done, nil
}

// fold makes one of the changes of each file, the file that was changed last first.
func fold(dir string, changes []Change) []*file {
	var files []*file
	for i, c := range changes {
		at := slices.IndexFunc(files, func(f *file) bool { return f.path == c.Path })
		if at < 0 {
			files = append(files, &file{path: c.Path, made: c.Made, old: filepath.Join(dir, fmt.Sprintf("%06d.old", i+1)), left: c.After})
			continue
		}
		f := files[at]
		f.broken = f.broken || f.left != c.Before
		f.left = c.After
		files = append(slices.Delete(files, at, at+1), f)
	}
	slices.Reverse(files)
	return files
}

// open opens a file, following no link.
func open(path string, flags uint64, mode uint64) (*os.File, error) {
	for {
		fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
			Flags: flags | unix.O_CLOEXEC | unix.O_NONBLOCK, Mode: mode, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
		})
		if errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN) {
			continue
		}
		if err != nil {
			return nil, &os.PathError{Op: "open", Path: path, Err: err}
		}
		return os.NewFile(uintptr(fd), path), nil
	}
}

// untouched reports whether a file is what the run has left, or what it was before: a restore that broke
// off can go on.
func (f *file) untouched() (bool, error) {
	g, err := open(f.path, unix.O_RDONLY, 0)
	if err != nil {
		if !exists(err) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
			return f.made && !exists(err), nil
		}
		return false, fmt.Errorf("comparing: %w", err)
	}
	defer func() { _ = g.Close() }()
	info, err := g.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return false, err
	}
	content, err := io.ReadAll(io.LimitReader(g, maxCurrent+1))
	if err != nil {
		return false, fmt.Errorf("comparing: %w", err)
	}
	if sum(content) == f.left {
		return !f.broken, nil
	}
	if f.made {
		return false, nil
	}
	old, err := os.ReadFile(f.old)
	return err == nil && bytes.Equal(old, content), err
}

// restore puts back what the file held.
func (f *file) restore() error {
	if f.made {
		return f.remove()
	}
	old, err := os.ReadFile(f.old)
	if err != nil {
		return fmt.Errorf("reading what %s held: %w", f.path, err)
	}
	g, err := open(f.path, unix.O_RDWR|unix.O_CREAT, 0o644)
	if err != nil {
		return fmt.Errorf("restoring: %w", err)
	}
	defer func() { _ = g.Close() }()
	if err := Replace(g, old); err != nil {
		return fmt.Errorf("restoring %s: %w", f.path, err)
	}
	return nil
}

func (f *file) remove() error {
	dir, err := open(filepath.Dir(f.path), unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		if !exists(err) {
			return nil
		}
		return fmt.Errorf("removing: %w", err)
	}
	defer func() { _ = dir.Close() }()
	err = unix.Unlinkat(int(dir.Fd()), filepath.Base(f.path), 0)
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("removing %s: %w", f.path, err)
	}
	return nil
}

// Replace makes content all that a regular file holds, durably.
func Replace(f *os.File, content []byte) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("it is not a regular file")
	}
	if err := f.Truncate(int64(len(content))); err != nil {
		return err
	}
	if _, err := f.WriteAt(content, 0); err != nil {
		return err
	}
	return f.Sync()
}
