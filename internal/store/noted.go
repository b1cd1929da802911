package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Noted is what a database says of the audit log that it belongs to. The zero value says nothing.
type Noted struct {
	Log string // id of the log
	Seq int64  // the highest seq in it that was seen
}

// Note remembers n in the table audit_seen, which a migration of the database has made:
//
//	CREATE TABLE audit_seen (one INTEGER PRIMARY KEY CHECK (one = 1), log TEXT NOT NULL, seq INTEGER NOT NULL)
func (d *DB) Note(ctx context.Context, n Noted) error {
	return d.Write(ctx, func(tx *Tx) error {
		_, err := tx.Exec(note, n.Log, n.Seq)
		return err
	})
}

const note = `INSERT INTO audit_seen (one, log, seq) VALUES (1, ?, ?)
	ON CONFLICT (one) DO UPDATE SET log = excluded.log, seq = excluded.seq`

// NoteAt is [DB.Note] of the database at path, which says something already and is not open here.
func NoteAt(ctx context.Context, path string, n Noted) error {
	db, err := sql.Open("sqlite", dsn(path, "mode=rw&_pragma=busy_timeout(5000)"))
	if err == nil {
		_, err = db.ExecContext(ctx, note, n.Log, n.Seq)
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		return fmt.Errorf("writing database %s: %w", path, damaged(path, err))
	}
	return nil
}

// ReadNoted returns what the database at path says. One that is not there, or that an older program
// made, says nothing.
func ReadNoted(ctx context.Context, path string) (n Noted, err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return n, nil
	}
	db, err := OpenReadOnly(ctx, path)
	if err == nil {
		n, err = readNoted(ctx, db)
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		return n, fmt.Errorf("reading database %s: %w", path, damaged(path, err))
	}
	return n, nil
}

func readNoted(ctx context.Context, db *sql.DB) (n Noted, err error) {
	var there bool
	err = db.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'audit_seen'`).Scan(&there)
	if err != nil || !there {
		return n, err
	}
	err = db.QueryRowContext(ctx, `SELECT log, seq FROM audit_seen`).Scan(&n.Log, &n.Seq)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return n, err
}
