package audit

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/svc-gateway/svc/internal/store"
)

// ErrLimit is wrapped by the error of a query that had more to say than Limits allow. The rows that
// come with it are the first ones, or those of the records that were copied.
var ErrLimit = errors.New("result is over the limit")

// Limits bound one query. A zero field takes its default.
type Limits struct {
	Rows  int           // rows returned; default 1,000
	Bytes int           // sum of the sizes of the values, 8 for a number; default 4 MiB
	Copy  int           // sum of the sizes of the values that Reader.Query copies; default 64 MiB
	Time  time.Duration // until the query is interrupted, its copying included; default 5 s
}

func (l Limits) withDefaults() Limits {
	if l.Rows <= 0 {
		l.Rows = 1000
	}
	if l.Bytes <= 0 {
		l.Bytes = 4 << 20
	}
	if l.Copy <= 0 {
		l.Copy = 64 << 20
	}
	if l.Time <= 0 {
		l.Time = 5 * time.Second
	}
	return l
}

// timed returns a context that ends when the query has taken too long, with the cause to tell.
func (l Limits) timed(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, l.Time, fmt.Errorf("%w: the query ran for %v; narrow it down", ErrLimit, l.Time))
}

// Query runs one SELECT on the log at path and returns its columns and rows. Values are int64,
// float64, string, []byte or nil. Nothing can be changed, and no other file can be reached: the
// database is opened read-only, ATTACH is off, and anything but a single SELECT, VALUES, WITH or
// EXPLAIN is refused before it is compiled.
func Query(ctx context.Context, path, query string, l Limits) (columns []string, rows [][]any, err error) {
	if err := checkStatement(query); err != nil {
		return nil, nil, err
	}
	db, err := openFile(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	l = l.withDefaults()
	ctx, cancel := l.timed(ctx)
	defer cancel()
	columns, rows, err = runQuery(ctx, db, query, l)
	return columns, rows, errors.Join(err, db.Close())
}

// Query runs one SELECT on a private copy, in memory, of the records that f selects: whoever asks
// can see those and nothing else, however the statement is written. Tables and views are those of
// the log. Without a limit the filter copies the newest 10,000 events and run records. Copying ends
// at Limits.Copy; the result is then that of what was copied, with an error that wraps ErrLimit and
// says how much that was. The statement, its result and its errors are otherwise as with the
// function Query.
func (r *Reader) Query(ctx context.Context, f Filter, query string, l Limits) (columns []string, rows [][]any, err error) {
	if err := checkStatement(query); err != nil {
		return nil, nil, err
	}
	if f.Limit <= 0 {
		f.Limit, f.Newest = 10_000, true
	}
	l = l.withDefaults()
	ctx, cancel := l.timed(ctx)
	defer cancel()
	db, err := store.OpenMemory(ctx, Migrations())
	if err != nil {
		return nil, nil, fmt.Errorf("copying the audit log: %w", cause(ctx, err))
	}
	defer db.Close()
	c, err := r.copyTo(ctx, db, f, l.Copy)
	if err != nil {
		return nil, nil, fmt.Errorf("copying the audit log: %w", cause(ctx, err))
	}
	columns, rows, err = runQuery(ctx, db, query, l)
	if err == nil && c.cut {
		err = fmt.Errorf("querying the audit log: %w: only %d records, %d MiB, were asked; the others are not in the result", ErrLimit, c.records, l.Copy>>20)
	}
	return columns, rows, err
}

// copied tells how much of the log was copied.
type copied struct {
	records, bytes int
	cut            bool // there was more
}

// copyTo inserts the selected records with their seq, in one transaction, until they hold more than
// most bytes.
func (r *Reader) copyTo(ctx context.Context, db *sql.DB, f Filter, most int) (c copied, err error) {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return c, err
	}
	defer tx.Rollback() // after a Commit it does nothing
	insert := func(row store.Statement) error {
		query, args := row.Bind(nil)
		size := sizeOf(args)
		if c.cut = c.bytes+size > most; c.cut {
			return nil
		}
		c.records, c.bytes = c.records+1, c.bytes+size
		_, err := tx.ExecContext(ctx, query, args...)
		return err
	}
	// The small run records come first: however large the events are, they find room.
	runs := f
	runs.After = 0 // a place in the other table
	for turn, err := range r.source.Runs(ctx, runs) {
		if err == nil {
			err = insert((*runRow)(&turn))
		}
		if err != nil {
			return c, err
		}
		if c.cut {
			break
		}
	}
	for e, err := range r.source.Events(ctx, f) {
		if err == nil {
			err = insert((*eventRow)(&e))
		}
		if err != nil {
			return c, err
		}
		if c.cut {
			break
		}
	}
	return c, tx.Commit()
}

// cause returns why the context ended when it did, otherwise err.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// runQuery runs a checked statement on one connection of db, which is fenced in first. ctx ends it.
func runQuery(ctx context.Context, db *sql.DB, query string, l Limits) (columns []string, rows [][]any, err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("querying the audit log: %w", cause(ctx, err))
	}
	defer conn.Close()
	if err := fence(ctx, conn, l); err != nil {
		return nil, nil, fmt.Errorf("querying the audit log: %w", cause(ctx, err))
	}
	columns, rows, err = read(ctx, conn, query, l)
	if err != nil {
		return columns, rows, fmt.Errorf("querying the audit log: %w", cause(ctx, err))
	}
	return columns, rows, nil
}

// fence takes from a connection what a single SELECT does not need. modernc.org/sqlite has no
// authorizer, and mode=ro does not keep ATTACH from opening other files; VACUUM INTO attaches too.
func fence(ctx context.Context, conn *sql.Conn, l Limits) error {
	for id, value := range map[int]int{
		sqlite3.SQLITE_LIMIT_ATTACHED:   0,
		sqlite3.SQLITE_LIMIT_LENGTH:     max(l.Bytes, 1<<20), // one value or row; zeroblob(1e9) would be a gigabyte
		sqlite3.SQLITE_LIMIT_SQL_LENGTH: 1 << 16,
		sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 100,
	} {
		if _, err := driver.Limit(conn, id, value); err != nil {
			return err
		}
	}
	_, err := conn.ExecContext(ctx, `PRAGMA query_only = 1`)
	return err
}

func read(ctx context.Context, conn *sql.Conn, query string, l Limits) (columns []string, all [][]any, err error) {
	rows, err := conn.QueryContext(ctx, query)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	if columns, err = rows.Columns(); err != nil {
		return nil, nil, err
	}
	size := 0
	for rows.Next() {
		row, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return columns, all, err
		}
		if len(all) == l.Rows {
			return columns, all, fmt.Errorf("%w: more than %d rows; add a LIMIT", ErrLimit, l.Rows)
		}
		if size += sizeOf(row); size > l.Bytes {
			return columns, all, fmt.Errorf("%w: more than %d bytes; select fewer columns or add a LIMIT", ErrLimit, l.Bytes)
		}
		all = append(all, row)
	}
	return columns, all, rows.Err()
}

func sizeOf(row []any) (n int) {
	for _, v := range row {
		switch v := v.(type) {
		case string:
			n += len(v)
		case []byte:
			n += len(v)
		default:
			n += 8
		}
	}
	return n
}
