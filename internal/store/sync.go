package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Sync has what was committed before survive a power cut, also where Options.Full is false. It waits
// for the disk, for one sync of the write-ahead log. What has left the log was synchronised when it did.
//
// The log is opened once more for that, which the database file may not be: with it, its locks would go.
func (d *DB) Sync() error {
	if d.opts.Full {
		return nil // every commit has waited
	}
	f, err := os.OpenFile(d.path+"-wal", os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w: opening the write-ahead log: %w", ErrUnavailable, err)
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		return fmt.Errorf("%w: synchronising the write-ahead log: %w", ErrUnavailable, err)
	}
	return nil
}
