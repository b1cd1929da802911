//go:build cgo && linux

package main

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/svc-gateway/svc/internal/duckwire"
)

// explain says what is wrong with a file, and in which line where that can be found. The database is
// asked a second time for that, or the file is read again: an error's text is for people.
func (w *writer) explain(ctx context.Context, err error, f file, path string) error {
	if fault, ok := errors.AsType[*duckwire.Fault](err); ok {
		return fault
	}
	r, ok := report(err)
	if !ok || ctx.Err() != nil {
		return fmt.Errorf("importing: %w", err)
	}
	message, _, _ := strings.Cut(strings.ReplaceAll(r.Message, path, f.name), "\n\n")
	fault := &duckwire.Fault{Code: duckwire.CodeData, File: f.name, Message: message}
	switch f.format {
	case duckwire.FormatCSV:
		w.rejected(ctx, f, path, fault)
		if fault.Line == 0 {
			unreadable(f, path, fault)
		}
	case duckwire.FormatJSON:
		malformed(f, path, fault)
	}
	return fault
}

// rejected finds the first line of a CSV file that does not fit, also into the columns of the table
// that it was for.
func (w *writer) rejected(ctx context.Context, f file, path string, fault *duckwire.Fault) {
	conn, err := w.db.Conn(ctx)
	if err != nil {
		return
	}
	defer conn.Close()
	defer func() {
		for _, table := range []string{"reject_errors", "reject_scans"} {
			_, _ = conn.ExecContext(context.WithoutCancel(ctx), "DROP TABLE IF EXISTS temp."+table)
		}
	}()
	if _, err := conn.ExecContext(ctx, "SELECT count(COLUMNS(*)) FROM "+f.source(path, ", store_rejects = true"+f.types(ctx, conn, path))); err != nil {
		return
	}
	var line int64
	var message string
	if conn.QueryRowContext(ctx, "SELECT line, error_message FROM reject_errors ORDER BY line, column_idx LIMIT 1").Scan(&line, &message) == nil {
		fault.Line = line
		fault.Message, _, _ = strings.Cut(strings.ReplaceAll(message, path, f.name), "\n\n")
	}
}

// types is the option with the types that the table has for columns of the file.
func (f file) types(ctx context.Context, conn *sql.Conn, path string) string {
	if f.mode != duckwire.ModeAppend {
		return ""
	}
	rows, err := conn.QueryContext(ctx, `SELECT c.column_name, c.data_type FROM duckdb_columns() c
		JOIN (DESCRIBE SELECT * FROM `+f.source(path, ", store_rejects = true")+`) d ON lower(c.column_name) = lower(d.column_name)
		WHERE c.database_name = current_database() AND c.schema_name = 'main' AND lower(c.table_name) = lower(?)`, f.table)
	if err != nil {
		return ""
	}
	defer rows.Close()
	var list []string
	for rows.Next() {
		var column, kind string
		if rows.Scan(&column, &kind) != nil {
			return ""
		}
		list = append(list, quote(column)+": "+quote(kind))
	}
	if rows.Err() != nil || len(list) == 0 {
		return ""
	}
	return ", types = {" + strings.Join(list, ", ") + "}"
}

// malformed finds the place where a file stops being JSON.
func malformed(f file, path string, fault *duckwire.Fault) {
	from, err := f.reader(path)
	if err != nil {
		return
	}
	defer from.Close()
	lines := &lineCounter{}
	d := json.NewDecoder(io.TeeReader(bufio.NewReader(from), lines))
	var depth int
	var opened int64 // where the value began that is being read
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			if depth > 0 {
				fault.Line = lines.line(opened - 1)
				fault.Message = "the file ends within the value that begins here"
			}
			return
		}
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			fault.Line = lines.line(syntax.Offset)
			fault.Message = syntax.Error()
			return
		}
		if err != nil {
			fault.Line = lines.line(d.InputOffset())
			fault.Message = err.Error()
			return
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			if depth++; depth == 1 {
				opened = d.InputOffset()
			}
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
}

// unreadable finds the line where a file stops being CSV: a quote that nothing ends, for example.
func unreadable(f file, path string, fault *duckwire.Fault) {
	from, err := f.reader(path)
	if err != nil {
		return
	}
	defer from.Close()
	r := csv.NewReader(from)
	r.Comma, r.ReuseRecord = rune(f.delimiter), true
	for {
		_, err := r.Read()
		if wrong, ok := errors.AsType[*csv.ParseError](err); ok {
			fault.Line, fault.Message = int64(wrong.StartLine), wrong.Err.Error()
		}
		if err != nil {
			return
		}
	}
}

// lineCounter notes where lines begin.
type lineCounter struct {
	read   int64
	starts []int64 // of the second line and those after it
}

func (l *lineCounter) Write(p []byte) (int, error) {
	for i, c := range p {
		if c == '\n' {
			l.starts = append(l.starts, l.read+int64(i)+1)
		}
	}
	l.read += int64(len(p))
	return len(p), nil
}

// line is the line, from 1, of a byte that is counted from 0. Errors count some bytes from 1, which is
// the same line, because a line's end belongs to it.
func (l *lineCounter) line(at int64) int64 {
	after, _ := slices.BinarySearch(l.starts, at+1)
	return int64(after) + 1
}
