package tools

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// workspace is where tools may read: below root, but not in denied.
type workspace struct {
	root   string
	denied []string
}

// tree is a workspace opened for one call, with every name resolved as of now.
type tree struct {
	*os.Root
	given  string   // the root as configured, absolute
	real   string   // the root without symbolic links
	denied []string // below the root
	sealed []string // all that are denied, those around the root included
}

func (w workspace) open() (*tree, error) {
	if w.root == "" {
		return nil, errors.New("no project root is set; set runtime.project_root to the folder that tools may read")
	}
	given, err := filepath.Abs(w.root)
	if err != nil {
		return nil, fmt.Errorf("resolving the project root: %w", err)
	}
	real, err := filepath.EvalSymlinks(given)
	if err != nil {
		return nil, fmt.Errorf("opening the project root: %w", err)
	}
	if real == "/" {
		return nil, errors.New("the project root is /, which is refused; set runtime.project_root to a folder of its own")
	}
	t := &tree{given: given, real: real}
	for _, d := range w.denied {
		abs, err := filepath.Abs(d)
		if err != nil {
			return nil, fmt.Errorf("resolving a denied folder: %w", err)
		}
		if resolved, err := filepath.EvalSymlinks(abs); err == nil {
			abs = resolved // otherwise it does not exist yet
		}
		t.sealed = append(t.sealed, abs)
		// A denied folder around the root is out of reach already: the default root
		// is a folder of its own inside the service's data folder.
		if within(abs, real) {
			t.denied = append(t.denied, abs)
		}
	}
	if t.Root, err = os.OpenRoot(real); err != nil {
		return nil, fmt.Errorf("opening the project root: %w", err)
	}
	return t, nil
}

// within reports whether path is folder or lies below it.
func within(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, strings.TrimSuffix(folder, "/")+"/")
}

// rel turns a path, relative to the root or absolute, into one relative to it.
func (t *tree) rel(path string) (string, error) {
	if strings.ContainsRune(path, 0) {
		return "", errors.New("the path contains a NUL byte")
	}
	if filepath.IsAbs(path) {
		clean := filepath.Clean(path)
		for _, root := range []string{t.given, t.real} {
			if within(clean, root) {
				return filepath.Rel(root, clean)
			}
		}
	} else if filepath.IsLocal(path) {
		return filepath.Clean(path), nil
	}
	return "", fmt.Errorf("%s is outside the project root %s; only what is inside can be read", path, t.given)
}

// open opens a regular file or a folder. It follows symbolic links that stay inside
// the root, and neither waits for a FIFO nor touches a device.
func (t *tree) open(path string) (*os.File, fs.FileInfo, error) {
	rel, err := t.rel(path)
	if err != nil {
		return nil, nil, err
	}
	info, err := t.Stat(rel)
	if err != nil {
		return nil, nil, explain(path, err)
	}
	if !info.Mode().IsRegular() && !info.IsDir() {
		return nil, nil, notAFile(path, info.Mode())
	}
	f, err := t.OpenFile(rel, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, explain(path, err)
	}
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		err = notAFile(path, info.Mode())
	}
	if err == nil {
		err = t.permit(path, f, "", false)
	}
	if err == nil && info.Mode().IsRegular() {
		err = t.unlinked(path, info)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// openFile opens a regular file.
func (t *tree) openFile(path string) (*os.File, fs.FileInfo, error) {
	f, info, err := t.open(path)
	if err == nil && info.IsDir() {
		return nil, nil, errors.Join(fmt.Errorf("%s is a folder; run_command with ls lists it", path), f.Close())
	}
	return f, info, err
}

// parent opens the folder that holds path and returns the last element of path,
// which it does not follow. deep says that everything below path will be looked at.
func (t *tree) parent(path string, deep bool) (*os.File, string, error) {
	rel, err := t.rel(path)
	if err != nil {
		return nil, "", err
	}
	dir, base := filepath.Split(rel)
	f, err := t.OpenFile(filepath.Join(".", dir), os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, "", explain(path, err)
	}
	if err := t.permit(path, f, base, deep); err != nil {
		return nil, "", errors.Join(err, f.Close())
	}
	return f, base, nil
}

// permit refuses an open file, or base in an open folder, that lies in a denied
// folder or, if deep, has one below it. The kernel says where the file really is.
func (t *tree) permit(path string, f *os.File, base string, deep bool) error {
	if len(t.denied) == 0 {
		return nil
	}
	where, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	if err != nil {
		return fmt.Errorf("finding where %s is: %w", path, err)
	}
	where = filepath.Join(where, base)
	for _, d := range t.denied {
		if within(where, d) {
			return fmt.Errorf("%s is in the service's own data folder, which no tool can read", path)
		}
	}
	if deep {
		return t.clear(path, where)
	}
	return nil
}

// clear refuses the folder where, without links in its name, when it has a denied one
// below it.
func (t *tree) clear(path, where string) error {
	for _, d := range t.denied {
		if within(d, where) {
			return fmt.Errorf("%s contains the service's own data folder, which no tool can read; name the folders beside it", path)
		}
	}
	return nil
}

func explain(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist in the project root", path)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("the service may not read %s", path)
	case strings.Contains(err.Error(), "escapes from parent"): // os has no sentinel for it
		return fmt.Errorf("%s leads outside the project root; only what is inside can be read", path)
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("opening %s: %w", path, err)
}

func notAFile(path string, m fs.FileMode) error {
	kind := "not a regular file"
	switch {
	case m&fs.ModeNamedPipe != 0:
		kind = "a FIFO"
	case m&fs.ModeSocket != 0:
		kind = "a socket"
	case m&fs.ModeDevice != 0:
		kind = "a device"
	}
	return fmt.Errorf("%s is %s; only regular files can be read", path, kind)
}
