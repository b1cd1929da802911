package settings

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Exposed reports whether a file's mode lets anybody but its owner read or change it.
func Exposed(info os.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }

// Tighten takes the files with secrets in the data folder (tokens, settings, keys) from everybody but
// their owner. It returns those that others had rights to, which they have lost, and an error for
// those that others can still read. A group keeps what cannot be taken from it: an administrator gave
// it a file of somebody else.
func (h Home) Tighten() (closed []string, err error) {
	keys, err := filepath.Glob(h.path("keys", "*"))
	if err != nil {
		return nil, fmt.Errorf("looking for keys: %w", err)
	}
	var errs []error
	for _, path := range append([]string{h.Token(), h.Token() + ".old", h.Config()}, keys...) {
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
