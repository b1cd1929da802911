package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Backup writes a consistent, compact copy of the database to a new file at path, with mode 0600,
// while reading and writing go on. An existing file is refused (fs.ErrExist). Until the copy is
// complete and on disk, path is an empty file.
func (d *DB) Backup(ctx context.Context, path string) error { return Backup(ctx, d.path, path) }

// Backup is [DB.Backup] of the database at from, which may be open here, in another process, or
// nowhere.
func Backup(ctx context.Context, from, path string) error {
	if _, err := os.Stat(from); err != nil { // SQLite only says that it is unable to open a file
		return fmt.Errorf("backing up: %w", err)
	}
	claim, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("backing up: %w", err)
	}
	if err := errors.Join(claim.Close(), copyTo(ctx, from, path)); err != nil {
		return errors.Join(fmt.Errorf("backing up to %s: %w", path, err), os.Remove(path))
	}
	return nil
}

func copyTo(ctx context.Context, db, path string) error {
	// VACUUM INTO accepts an empty file, and does not sync what it writes.
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	// The read pool cannot be used: VACUUM INTO is a write to PRAGMA query_only.
	from, err := sql.Open("sqlite", dsn(db, "mode=ro&_pragma=busy_timeout(5000)"))
	if err != nil {
		return err
	}
	_, err = from.ExecContext(ctx, `VACUUM INTO ?`, f.Name())
	if err := errors.Join(err, from.Close()); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

func syncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
