package tools

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

const maxSealed = 100_000 // files that are compared with one of several names

// unlinked refuses a regular file that has another name in a denied folder: a hard link
// is not seen in the path of the opened file. Denied folders are searched only for a
// file with several names, all of them but the root itself where it lies within one.
func (t *tree) unlinked(path string, info fs.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || st.Nlink < 2 {
		return nil
	}
	seen := 0
	for _, folder := range t.sealed {
		err := filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil // it went, or the folder is not there yet
			case err != nil:
				return fmt.Errorf("looking for other names of %s: %w", path, err)
			case d.IsDir() && name == t.real:
				return fs.SkipDir
			case !d.Type().IsRegular():
				return nil
			}
			if seen++; seen > maxSealed {
				return fmt.Errorf("%s has several names, and the service's data folder too many files to tell whether one of them is there; copy the file", path)
			}
			other, err := d.Info()
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return fmt.Errorf("looking for other names of %s: %w", path, err)
			case os.SameFile(info, other):
				return fmt.Errorf("%s is also in the service's own data folder, which no tool can read", path)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
