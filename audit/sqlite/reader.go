package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"os"
	"strings"
	"time"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/internal/store"
)

// reader is the Source of a database.
type reader struct {
	db   *sql.DB
	path string
}

// OpenReader opens the log at path for reading, while the service writes it or when it does not run.
// The caller closes the Reader.
func OpenReader(ctx context.Context, path string) (*audit.Reader, error) {
	db, err := openFile(ctx, path)
	if err != nil {
		return nil, err
	}
	return audit.NewReader(reader{db, path}), nil
}

func openFile(ctx context.Context, path string) (*sql.DB, error) {
	if _, err := os.Stat(path); err != nil { // SQLite only says that it is unable to open a file
		return nil, fmt.Errorf("opening the audit log: %w", err)
	}
	db, err := store.OpenReadOnly(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("opening the audit log %s: %w", path, err)
	}
	return db, nil
}

// Close lets go of the files.
func (r reader) Close() error { return r.db.Close() }

// Events implements [audit.Source].
func (r reader) Events(ctx context.Context, f audit.Filter) iter.Seq2[audit.Event, error] {
	return scan(ctx, r.db, `SELECT `+eventColumns+` FROM audit_events`, f, scanEvent)
}

// Runs implements [audit.Source].
func (r reader) Runs(ctx context.Context, f audit.Filter) iter.Seq2[audit.RunRecord, error] {
	return scan(ctx, r.db, `SELECT `+turnColumns+` FROM audit_runs`, f, scanRun)
}

// Mark implements [audit.Source].
func (r reader) Mark(ctx context.Context) (m audit.Mark, err error) {
	err = r.db.QueryRowContext(ctx, `SELECT id, (SELECT coalesce(max(seq), 0) FROM audit_events) FROM audit_log`).Scan(&m.Log, &m.Seq)
	if err != nil {
		return m, fmt.Errorf("reading the audit log's id: %w", err)
	}
	return m, nil
}

// Check implements [audit.Source].
func (r reader) Check(ctx context.Context) error {
	if err := store.CheckVersion(ctx, r.db, migrations()); err != nil {
		return fmt.Errorf("checking database %s: %w", r.path, err)
	}
	return store.Check(ctx, r.path)
}

// where turns a filter into the rest of a SELECT. Both tables have the columns it names.
func where(f audit.Filter) (string, []any) {
	var terms []string
	var args []any
	require := func(term string, arg any) {
		terms = append(terms, term)
		args = append(args, arg)
	}
	if f.User != "" {
		require("user = ?", f.User)
	}
	if f.Run != "" {
		require("run = ?", f.Run)
	}
	if !f.Since.IsZero() {
		require("time >= ?", ceil(f.Since).Format(audit.TimeFormat))
	}
	if !f.Until.IsZero() {
		require("time < ?", ceil(f.Until).Format(audit.TimeFormat))
	}
	if f.After > 0 {
		require("seq > ?", f.After)
	}
	var b strings.Builder
	for i, term := range terms {
		b.WriteString([]string{" WHERE ", " AND "}[min(i, 1)])
		b.WriteString(term)
	}
	b.WriteString(" ORDER BY seq")
	if f.Newest {
		b.WriteString(" DESC")
	}
	if f.Limit > 0 {
		b.WriteString(" LIMIT ?")
		args = append(args, f.Limit)
	}
	return b.String(), args
}

// ceil rounds a bound up to the precision of the column: a stored time is a whole millisecond, and
// compares with the bound as with the next whole one.
func ceil(t time.Time) time.Time {
	t = t.UTC()
	if d := t.Truncate(time.Millisecond); d.Before(t) {
		return d.Add(time.Millisecond)
	}
	return t
}

func scan[T any](ctx context.Context, db *sql.DB, query string, f audit.Filter, one func(*sql.Rows) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		rest, args := where(f)
		rows, err := db.QueryContext(ctx, query+rest, args...)
		if err != nil {
			yield(none, fmt.Errorf("reading the audit log: %w", err))
			return
		}
		defer rows.Close()
		for rows.Next() {
			v, err := one(rows)
			if err != nil {
				yield(none, fmt.Errorf("reading the audit log: %w", err))
				return
			}
			if !yield(v, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(none, fmt.Errorf("reading the audit log: %w", err))
		}
	}
}
