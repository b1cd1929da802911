package sandbox

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/agents/sandbox/wire"
)

// lent are files of the folder of a Box that its programs read. They are made when the first program
// needs them. Nobody but the service's user can change them, and no program's sandbox lets it.
type lent struct {
	dir string

	mu       sync.Mutex
	modules  string            // folder for Python; empty when it is not made
	programs map[string]string // folders with a copy of a program, or a link to it, by its path
}

// shim opens the database read-only for programs in Python.
//
//go:embed python/sitecustomize.py
var shim []byte

// python is a folder with the module that Python loads when it starts.
func (l *lent) python() (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.modules != "" {
		return l.modules, nil
	}
	dir, err := l.folder()
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "sitecustomize.py")
	if err := errors.Join(os.WriteFile(file, shim, 0o644), os.Chmod(file, 0o644)); err != nil {
		return "", err
	}
	l.modules = dir
	return dir, nil
}

// folder makes a folder that everybody can look into, whatever the umask is.
func (l *lent) folder() (string, error) {
	dir := filepath.Join(l.dir, newID())
	return dir, errors.Join(os.Mkdir(dir, 0o755), os.Chmod(dir, 0o755))
}

// program is a path of a program at which others than this user may run it: its own, or that of a copy,
// which is made once. folder is where it has the given name, if nothing is mounted.
func (l *lent) program(path, name string, mode wire.Mode) (program, folder string, err error) {
	path, err = filepath.EvalSymlinks(path)
	if err != nil {
		return "", "", err
	}
	own := reachable(path, 0o005, mode)
	if own && (mode != wire.Minimal || filepath.Base(path) == name) {
		return path, filepath.Dir(path), nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	folder, made := l.programs[path]
	if !made {
		if folder, err = l.folder(); err != nil {
			return "", "", err
		}
		if own {
			err = os.Symlink(path, filepath.Join(folder, name))
		} else {
			err = link(path, filepath.Join(folder, name), 0o005)
		}
		if err != nil {
			return "", "", err
		}
		if l.programs == nil {
			l.programs = map[string]string{}
		}
		l.programs[path] = folder
	}
	if own {
		return path, folder, nil
	}
	return filepath.Join(folder, name), folder, nil
}

// file is a path of a file at which others than this user may read it: its own, or that of a copy, which
// release removes.
func (l *lent) file(path string, mode wire.Mode) (readable string, release func(), err error) {
	path, err = filepath.EvalSymlinks(path)
	if err != nil {
		return "", nil, err
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return "", nil, errors.Join(err, fmt.Errorf("%s is not a file", path))
	}
	if reachable(path, 0o004, mode) {
		return path, func() {}, nil
	}
	p := filepath.Join(l.dir, newID())
	if err := link(path, p, 0o004); err != nil {
		return "", nil, err
	}
	return p, func() { _ = os.Remove(p) }, nil
}

// reachable reports whether a program has these rights to a file, if the sandbox shows it. It has those
// of this process, or with a process that is root, those of others; folders around the file do not
// matter where it is mounted elsewhere.
func reachable(path string, rights os.FileMode, mode wire.Mode) bool {
	if os.Geteuid() != 0 {
		return true
	}
	for info, err := os.Stat(path); err == nil && info.Mode().Perm()&rights == rights; info, err = os.Stat(path) {
		if path == "/" || mode != wire.Minimal {
			return true
		}
		path, rights = filepath.Dir(path), 0o001
	}
	return false
}

// link gives a file another name at which others have these rights, or makes a copy where that cannot be.
func link(from, to string, rights os.FileMode) error {
	r, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	if info, err := r.Stat(); err == nil && info.Mode().Perm()&rights == rights && os.Link(from, to) == nil {
		return nil
	}
	w, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if unix.IoctlFileClone(int(w.Fd()), int(r.Fd())) != nil {
		_, err = w.ReadFrom(r)
	}
	if err := errors.Join(err, w.Chmod(0o400|rights), w.Close()); err != nil {
		return errors.Join(err, os.Remove(to))
	}
	return nil
}
