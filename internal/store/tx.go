package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// maxStatements bounds the statement cache of a connection; whoever builds SQL text from values
// instead of binding them gets slow, not a leak.
const maxStatements = 256

// conn is the writer's connection with its prepared statements. Statements run under the background
// context: with any other the driver starts a goroutine for each.
type conn struct {
	sql   *sql.Conn
	stmts map[string]*sql.Stmt
}

func newConn(c *sql.Conn) *conn { return &conn{sql: c, stmts: make(map[string]*sql.Stmt)} }

func (c *conn) prepare(query string) (*sql.Stmt, error) {
	if s := c.stmts[query]; s != nil {
		return s, nil
	}
	if len(c.stmts) >= maxStatements {
		for q, s := range c.stmts {
			if err := s.Close(); err != nil {
				return nil, err
			}
			delete(c.stmts, q)
			break
		}
	}
	s, err := c.sql.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, err
	}
	c.stmts[query] = s
	return s, nil
}

// exec runs a statement that is not worth a place in the cache.
func (c *conn) exec(query string) (sql.Result, error) {
	return c.sql.ExecContext(context.Background(), query)
}

// run executes one of the writer's own statements, prepared.
func (c *conn) run(query string) error {
	s, err := c.prepare(query)
	if err != nil {
		return err
	}
	_, err = s.ExecContext(context.Background())
	return err
}

func (c *conn) close() error {
	var errs []error
	for _, s := range c.stmts {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, c.sql.Close())...)
}

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
	s, err := t.conn.prepare(query)
	if err != nil {
		return nil, t.check(err)
	}
	r, err := s.ExecContext(context.Background(), args...)
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
	var e *sqlite.Error
	if !errors.As(err, &e) {
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
