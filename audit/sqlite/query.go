package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/svc-gateway/svc/audit"
)

// Query implements [audit.Source]. The SQL is that of SQLite. All records are asked in the database,
// on a connection of its own, because it is fenced in for good; of some a copy is made.
func (r reader) Query(ctx context.Context, f audit.Filter, query string, l audit.Limits) (columns []string, rows [][]any, err error) {
	if f != (audit.Filter{}) {
		return QueryCopy(ctx, r, f, query, l)
	}
	if err := checkStatement(query); err != nil {
		return nil, nil, err
	}
	db, err := openFile(ctx, r.path)
	if err != nil {
		return nil, nil, err
	}
	columns, rows, err = runQuery(ctx, db, query, l)
	return columns, rows, errors.Join(err, db.Close())
}

// runQuery runs a checked statement on one connection of db, which is fenced in first. ctx ends it.
func runQuery(ctx context.Context, db *sql.DB, query string, l audit.Limits) (columns []string, rows [][]any, err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("querying the audit log: %w", err)
	}
	defer conn.Close()
	if err := fence(ctx, conn, l); err != nil {
		return nil, nil, fmt.Errorf("querying the audit log: %w", err)
	}
	columns, rows, err = read(ctx, conn, query, l)
	if err != nil {
		return columns, rows, fmt.Errorf("querying the audit log: %w", err)
	}
	return columns, rows, nil
}

// fence takes from a connection what a single SELECT does not need. modernc.org/sqlite has no
// authorizer, and mode=ro does not keep ATTACH from opening other files; VACUUM INTO attaches too.
func fence(ctx context.Context, conn *sql.Conn, l audit.Limits) error {
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

func read(ctx context.Context, conn *sql.Conn, query string, l audit.Limits) (columns []string, all [][]any, err error) {
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
			return columns, all, fmt.Errorf("%w: more than %d rows; add a LIMIT", audit.ErrLimit, l.Rows)
		}
		if size += sizeOf(row); size > l.Bytes {
			return columns, all, fmt.Errorf("%w: more than %d bytes; select fewer columns or add a LIMIT", audit.ErrLimit, l.Bytes)
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
