package skill

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/svc-gateway/svc/internal/guarded"
)

// fresh is how the names of folders begin that are no skills yet, or none any more.
const fresh = ".new-"

// write makes a folder with the files, all of it or nothing: it is made under another name first. A folder
// that is there is replaced. Nobody else may write skills meanwhile.
func write(dir string, files []File) (err error) {
	above := filepath.Dir(dir)
	if err := makeFolder(above); err != nil {
		return err
	}
	if err := sweep(above); err != nil {
		return err
	}
	made, err := os.MkdirTemp(above, fresh+"*") // 0700
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(made)) }()
	if err := guarded.Give(made, above); err != nil {
		return err
	}
	for _, f := range files {
		p, put := filepath.Join(made, filepath.FromSlash(f.Path)), guarded.Write
		if f.Exec {
			put = guarded.WriteProgram
		}
		if err := errors.Join(makeFolder(filepath.Dir(p)), put(p, f.Content)); err != nil {
			return err
		}
	}
	switch err := exchange(made, dir); {
	case errors.Is(err, fs.ErrNotExist):
		return os.Rename(made, dir)
	case errors.Is(err, errors.ErrUnsupported):
		return replace(made, dir)
	default:
		return err
	}
}

// replace puts a folder in the place of another one, where they cannot be exchanged. A crash in between leaves
// the skill missing, and sweep removes what is left.
func replace(made, dir string) error {
	old := made + ".old"
	if err := os.Rename(dir, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(made, dir); err != nil {
		_ = os.Rename(old, dir) // what was there counts again
		return err
	}
	return os.RemoveAll(old)
}

// sweep removes what a crash has left.
func sweep(above string) error {
	all, err := os.ReadDir(above)
	for _, e := range all {
		if strings.HasPrefix(e.Name(), fresh) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(above, e.Name())))
		}
	}
	return err
}

// makeFolder makes a folder, and those around it, for the service's user only.
func makeFolder(dir string) error {
	if err := os.Mkdir(dir, 0o700); err == nil {
		return guarded.Give(dir, filepath.Dir(dir))
	} else if errors.Is(err, fs.ErrExist) {
		return nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := makeFolder(filepath.Dir(dir)); err != nil {
		return err
	}
	return makeFolder(dir)
}
