package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/store"
)

// QueryCopy runs one SELECT on a private copy, in memory, of the records that f selects of a source:
// however the statement is written, it reaches nothing else. Tables, views and SQL are those of this
// package, whatever the source is, so that a storage without rights by row can answer
// [audit.Source].Query with it. Copying ends at l.Copy; the result is then that of what was copied,
// with an error that wraps [audit.ErrLimit] and says how much that was.
func QueryCopy(ctx context.Context, from audit.Source, f audit.Filter, query string, l audit.Limits) (columns []string, rows [][]any, err error) {
	if err := checkStatement(query); err != nil {
		return nil, nil, err
	}
	db, err := store.OpenMemory(ctx, migrations())
	if err != nil {
		return nil, nil, fmt.Errorf("copying the audit log: %w", err)
	}
	defer db.Close()
	c, err := copyTo(ctx, db, from, f, l.Copy)
	if err != nil {
		return nil, nil, fmt.Errorf("copying the audit log: %w", err)
	}
	columns, rows, err = runQuery(ctx, db, query, l)
	if err == nil && c.cut {
		err = fmt.Errorf("querying the audit log: %w: only %d records, %d MiB, were asked; the others are not in the result", audit.ErrLimit, c.records, l.Copy>>20)
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
func copyTo(ctx context.Context, db *sql.DB, from audit.Source, f audit.Filter, most int) (c copied, err error) {
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
	for turn, err := range from.Runs(ctx, runs) {
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
	for e, err := range from.Events(ctx, f) {
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
