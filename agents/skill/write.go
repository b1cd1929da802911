package skill

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/svc-gateway/svc/internal/guarded"
)

// write makes a folder with the files, all of it or nothing: it is made under another name first. A folder
// that is there is replaced.
func write(dir string, files []File) (err error) {
	above := filepath.Dir(dir)
	if err := makeFolder(above); err != nil {
		return err
	}
	fresh, err := os.MkdirTemp(above, ".new-*") // 0700
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(fresh)) }()
	if err := guarded.Give(fresh, above); err != nil {
		return err
	}
	for _, f := range files {
		p, mode := filepath.Join(fresh, filepath.FromSlash(f.Path)), os.FileMode(0o600)
		if f.Exec {
			mode = 0o700
		}
		if err := errors.Join(makeFolder(filepath.Dir(p)), writeSynced(p, f.Content, mode)); err != nil {
			return err
		}
	}
	old := fresh + ".old"
	if err := os.Rename(dir, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(fresh, dir); err != nil {
		_ = os.Rename(old, dir) // what was there counts again
		return err
	}
	return os.RemoveAll(old)
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

// writeSynced writes a new file to the disk.
func writeSynced(p string, content []byte, mode os.FileMode) error {
	f, err := os.OpenFile(p, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Chmod(mode), f.Sync(), f.Close(), guarded.Give(p, filepath.Dir(p)))
}
