package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// errReplaced is wrapped by what place says.
var errReplaced = errors.New("the file in use was deleted or replaced")

// place is where the writer's files were when it opened them. SQLite goes on with a file that was
// deleted or replaced, and whoever opens its path finds another: what is committed then is lost.
//
// It cannot see that a file was overwritten in place. The checks of the next start may.
type place struct {
	path    string
	db, wal os.FileInfo // wal is nil until there is one
}

// newPlace remembers the files of an open database.
func newPlace(path string) (*place, error) {
	db, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	p := &place{path: path, db: db}
	return p, p.check()
}

// check returns an error unless the database and its write-ahead log are the files that were
// opened, by device and inode. Files that are put back are those.
func (p *place) check() error {
	if err := same(p.path, &p.db); err != nil {
		return err
	}
	return same(p.path+"-wal", &p.wal)
}

// same compares a file with the one that was there, or remembers it as the first.
func same(path string, was *os.FileInfo) error {
	now, err := os.Stat(path)
	switch {
	case err != nil && *was == nil && errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("%w: %w", errReplaced, err)
	case *was == nil:
		*was = now
	case !os.SameFile(now, *was):
		return fmt.Errorf("%w: %s is another file", errReplaced, path)
	}
	return nil
}
