package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Tx is what an operation changes the database with. Each query string is prepared once and kept, so
// it should be a constant. Rows must be closed before the operation returns.
type Tx struct {
	conn *conn
	// dead is the first failure of the storage itself. SQLite has given up the transaction then, and
	// what came after it would be committed one statement at a time: nothing more is executed.
	dead error
}

// Exec runs a statement that returns no rows.
func (t *Tx) Exec(query string, args ...any) (sql.Result, error) {
	if t.dead != nil {
		return nil, t.dead
	}
	r, err := t.conn.exec(query, args)
	return r, t.check(err)
}

// Query runs a statement that returns rows. The caller closes them and looks at their Err.
func (t *Tx) Query(query string, args ...any) (*sql.Rows, error) {
	if t.dead != nil {
		return nil, t.dead
	}
	s, err := t.conn.prepare(query)
	if err != nil {
		return nil, t.check(err)
	}
	rows, err := s.QueryContext(context.Background(), args...)
	return rows, t.check(err)
}

// QueryRow runs a statement that returns at most one row; Scan reports its error.
func (t *Tx) QueryRow(query string, args ...any) *sql.Row {
	if t.dead != nil {
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		return t.conn.sql.QueryRowContext(ended, query) // the one way to make a Row that holds an error
	}
	s, err := t.conn.prepare(query)
	if err != nil {
		return t.conn.sql.QueryRowContext(context.Background(), query, args...) // fails the same way
	}
	row := s.QueryRowContext(context.Background(), args...)
	t.dead = storage(row.Err())
	return row
}

func (t *Tx) check(err error) error {
	if e := storage(err); e != nil {
		t.dead = e
	}
	return err
}

// storage returns err, wrapped in ErrUnavailable, when it tells of the storage and not of the
// statement. (https://www.sqlite.org/rescode.html; the low byte is the primary code.)
func storage(err error) error {
	if err == nil {
		return nil
	}
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return nil
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN,
		sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_PERM,
		sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_PROTOCOL:
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return nil
}
