//go:build cgo && linux

package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/svc-gateway/svc/internal/duckwire"
)

// importPattern is the form of the names that files have while they are imported.
const importPattern = "import-*"

// large is the size from which a file takes long enough that nobody should wait for it who asks for
// a snapshot.
const large = 16 << 20

// file is what a client sends.
type file struct {
	name   string // for messages; its ending says whether it is compressed
	table  string
	format string
	mode   string
	body   io.Reader

	headless  bool // a CSV file has no line with the names of its columns
	delimiter byte // of a CSV file
}

func badTable(table string) error {
	return duckwire.Faultf(duckwire.CodeBadRequest, "the table name %q must be letters, digits and _, at most 63, and not begin with a digit", table)
}

func (f file) check() error {
	switch f.format {
	case duckwire.FormatCSV, duckwire.FormatJSON, duckwire.FormatParquet, duckwire.FormatLines:
	default:
		return duckwire.Faultf(duckwire.CodeBadRequest, "the format %q is none of csv, json, parquet and lines", f.format)
	}
	switch f.mode {
	case duckwire.ModeCreate, duckwire.ModeAppend, duckwire.ModeReplace:
	default:
		return duckwire.Faultf(duckwire.CodeBadRequest, "the mode %q is none of create, append and replace", f.mode)
	}
	if !duckwire.TableName.MatchString(f.table) {
		return badTable(f.table)
	}
	return nil
}

func (f file) gzipped() bool { return strings.HasSuffix(strings.ToLower(f.name), ".gz") }

// load imports a file in one transaction: all of it or nothing.
func (w *writer) load(ctx context.Context, f file) (duckwire.Imported, error) {
	begun := time.Now()
	if err := f.check(); err != nil {
		return duckwire.Imported{}, err
	}
	path, size, err := w.keep(f.body)
	if err != nil {
		return duckwire.Imported{}, err
	}
	defer os.Remove(path)

	if f.format == duckwire.FormatCSV {
		if err := f.findDelimiter(path); err != nil {
			return duckwire.Imported{}, err
		}
	}
	w.change.Lock()
	defer w.change.Unlock()
	if size >= large && w.fresh(0) == nil {
		if _, err := w.publish(ctx); err != nil {
			return duckwire.Imported{}, err
		}
	}
	done, err := w.insert(ctx, f, path)
	if err != nil {
		return duckwire.Imported{}, w.explain(ctx, err, f, path)
	}
	w.changed()
	done.Duration = time.Since(begun).Milliseconds()
	return done, nil
}

// keep writes what the client sends to a file: the database has to read it more than once, and reads
// no file of a name that a client chooses.
func (w *writer) keep(body io.Reader) (path string, size int64, err error) {
	to, err := os.CreateTemp(w.folder, importPattern)
	if err != nil {
		return "", 0, fmt.Errorf("keeping the file: %w", err)
	}
	size, err = io.Copy(to, body)
	if err = errors.Join(err, to.Close()); err != nil {
		return "", 0, errors.Join(fmt.Errorf("keeping the file: %w", err), os.Remove(to.Name()))
	}
	return to.Name(), size, nil
}

func (w *writer) insert(ctx context.Context, f file, path string) (done duckwire.Imported, err error) {
	err = w.transact(ctx, func(conn *sql.Conn, tx *sql.Tx) error {
		exists, err := has(ctx, tx, f.table)
		if err != nil {
			return err
		}
		if exists && f.mode == duckwire.ModeCreate {
			return duckwire.Faultf(duckwire.CodeExists, "the table %s exists: append to it (--append), replace it (--replace) or choose another name (--table)", f.table)
		}
		appending := exists && f.mode == duckwire.ModeAppend
		if f.format == duckwire.FormatLines {
			done.Rows, err = f.insertLines(ctx, conn, tx, path, appending)
		} else {
			done.Rows, err = f.insertTable(ctx, tx, path, appending)
		}
		if err != nil {
			return err
		}
		done.Table = f.table
		done.Columns, err = columns(ctx, tx, f.table)
		return err
	})
	return done, err
}

// transact makes a change, all of it or nothing. Its caller holds w.change.
func (w *writer) transact(ctx context.Context, change func(*sql.Conn, *sql.Tx) error) error {
	conn, err := w.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := change(conn, tx); err != nil {
		_ = tx.Rollback() // the connection may be gone with ctx
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	return nil
}

// insertTable imports a file that has columns.
func (f file) insertTable(ctx context.Context, tx *sql.Tx, path string, appending bool) (rows int64, err error) {
	if appending {
		result, err := tx.ExecContext(ctx, "INSERT INTO "+name(f.table)+" BY NAME SELECT * FROM "+f.source(path, ""))
		if err != nil {
			return 0, err
		}
		return result.RowsAffected()
	}
	if _, err := tx.ExecContext(ctx, "CREATE OR REPLACE TABLE "+name(f.table)+" AS SELECT * FROM "+f.source(path, "")); err != nil {
		return 0, err
	}
	err = tx.QueryRowContext(ctx, "SELECT count(*) FROM "+name(f.table)).Scan(&rows)
	return rows, err
}

func has(ctx context.Context, tx *sql.Tx, table string) (bool, error) {
	var n int
	err := tx.QueryRowContext(ctx, "SELECT count(*) FROM duckdb_tables() WHERE database_name = current_database() AND schema_name = 'main' AND lower(table_name) = lower(?)", table).Scan(&n)
	if err != nil {
		return false, fmt.Errorf("looking for the table: %w", err)
	}
	return n > 0, nil
}

func columns(ctx context.Context, tx *sql.Tx, table string) (all []duckwire.Column, err error) {
	rows, err := tx.QueryContext(ctx, "SELECT column_name, data_type FROM duckdb_columns() WHERE database_name = current_database() AND schema_name = 'main' AND lower(table_name) = lower(?) ORDER BY column_index", table)
	if err != nil {
		return nil, fmt.Errorf("listing columns: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var c duckwire.Column
		if err := rows.Scan(&c.Name, &c.Type); err != nil {
			return nil, fmt.Errorf("listing columns: %w", err)
		}
		all = append(all, c)
	}
	return all, rows.Err()
}
