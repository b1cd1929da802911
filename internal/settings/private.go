package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Exposed reports whether a file's mode lets anybody but its owner read or change it.
func Exposed(info os.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }

// Tighten takes the files with secrets in the data folder (tokens, those put aside too, settings,
// keys) from everybody but their owner. It returns those that others had rights to, which they have
// lost, and an error for those that others can still read. A group keeps what cannot be taken from it:
// an administrator gave it a file of somebody else.
func (h Home) Tighten() (closed []string, err error) {
	paths := []string{h.Config()}
	for _, pattern := range []string{"token*", "keys/*"} {
		found, err := fs.Glob(os.DirFS(h.dir), pattern)
		if err != nil {
			return nil, fmt.Errorf("looking for files with secrets: %w", err)
		}
		for _, name := range found {
			paths = append(paths, h.path(filepath.FromSlash(name)))
		}
	}
	var errs []error
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || !Exposed(info) {
			continue // not there, or not ours to see: whoever needs it says so
		}
		switch err := os.Chmod(path, info.Mode().Perm()&^0o077); {
		case err == nil:
			closed = append(closed, path)
		case info.Mode().Perm()&0o007 != 0:
			errs = append(errs, fmt.Errorf("closing a file to others: %w", err))
		}
	}
	return closed, errors.Join(errs...)
}
