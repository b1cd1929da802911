//go:build cgo && linux

package main

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"time"

	"github.com/duckdb/duckdb-go/v2"

	"github.com/svc-gateway/svc/internal/compat"
	"github.com/svc-gateway/svc/internal/duckwire"
)

// maxQuery is the longest question, in bytes.
const maxQuery = 1 << 20

// query answers the question on in and returns the exit code.
func query(in io.Reader, out io.Writer) int {
	var q duckwire.Query
	a := duckwire.Answer{}
	if err := json.NewDecoder(io.LimitReader(in, maxQuery)).Decode(&q); err != nil {
		a.Fault = duckwire.Faultf(duckwire.CodeBadRequest, "reading the question: %v", err)
	} else if err := compat.Check(q.Version); err != nil {
		a.Fault = duckwire.Faultf(duckwire.CodeVersion, "%v", err)
	} else {
		defer time.AfterFunc(q.Time+grace, func() { // planning cannot be interrupted
			say(out, duckwire.Answer{Version: compat.Version, Fault: duckwire.Faultf(duckwire.CodeTimeout, "the statement took longer than %s", q.Time)})
			os.Exit(1)
		}).Stop()
		a = answer(q)
	}
	a.Version = compat.Version
	say(out, a)
	if a.Fault != nil {
		return 1
	}
	return 0
}

// snapshotFile is the path of the snapshot: in a sandbox that which it is shown at, else that in the working
// directory.
func snapshotFile() string {
	if inSandbox() {
		return os.Getenv(duckwire.DatabaseVariable)
	}
	return duckwire.DatabaseFile
}

// inSandbox reports whether svc-sandbox runs this process.
func inSandbox() bool { return os.Getenv(duckwire.DatabaseVariable) != "" }

// answer confines the process and runs the statement.
func answer(q duckwire.Query) (a duckwire.Answer) {
	if q.Rows < 1 || q.Bytes < 1 || q.Time <= 0 || q.Memory < 1 || q.Threads < 1 {
		a.Fault = duckwire.Faultf(duckwire.CodeBadRequest, "the question has no limits: rows, bytes, time, memory and threads must be positive")
		return a
	}
	degraded, err := confineQuery(snapshotFile(), q)
	if err != nil {
		a.Fault = duckwire.Faultf(duckwire.CodeConfinement, "statements cannot be confined here: %v", err)
		return a
	}
	ctx, cancel := context.WithTimeout(context.Background(), q.Time)
	defer cancel()
	a, err = run(ctx, q)
	a.Degraded = degraded
	if err != nil {
		a = duckwire.Answer{Degraded: degraded, Fault: asFault(ctx, err, q)}
	}
	return a
}

// run opens the snapshot and runs the statement. The process must be confined by now, and ends after
// it: what fails when things are closed changes nothing.
func run(ctx context.Context, q duckwire.Query) (a duckwire.Answer, err error) {
	connector, err := duckdb.NewConnector(snapshotFile()+"?"+readOnly(q).Encode(), lockDown)
	if err != nil {
		return a, err
	}
	defer func() { _ = connector.Close() }()
	c, err := connector.Connect(ctx)
	if err != nil {
		return a, err
	}
	defer func() { _ = c.Close() }()
	conn, ok := c.(*duckdb.Conn)
	if !ok {
		return a, fmt.Errorf("opening the snapshot: got a %T", c)
	}
	stmt, err := prepare(conn, q.SQL)
	if err != nil {
		return a, err
	}
	defer func() { _ = stmt.Close() }()
	rows, err := stmt.QueryContext(ctx, nil)
	if err != nil {
		return a, err
	}
	defer func() { _ = rows.Close() }()
	return collect(stmt, rows, q)
}

// readOnly are the settings that a database is opened with. They come before everything else, because
// opening already could load something.
func readOnly(q duckwire.Query) url.Values {
	return url.Values{
		"access_mode":                  {"READ_ONLY"},
		"autoinstall_known_extensions": {"false"},
		"autoload_known_extensions":    {"false"},
		"allow_community_extensions":   {"false"},
		"allow_unsigned_extensions":    {"false"},
		"memory_limit":                 {strconv.FormatInt(q.Memory, 10) + "B"},
		"threads":                      {strconv.Itoa(q.Threads)},
	}
}

// lockDown makes the settings that hold for the rest of the process. Their order counts: the folder
// for temporary files cannot be changed without external access, and nothing can once the
// configuration is locked.
func lockDown(conn driver.ExecerContext) error {
	for _, set := range []string{
		"SET errors_as_json = true",
		"SET TimeZone = 'UTC'",
		"SET temp_directory = ''",
		"SET enable_external_access = false",
		"SET lock_configuration = true",
	} {
		if _, err := conn.ExecContext(context.Background(), set, nil); err != nil {
			return fmt.Errorf("%s: %w", set, err)
		}
	}
	return nil
}

// refusal is an error about the kind of a statement.
type refusal string

func (r refusal) Error() string { return string(r) }

// prepare takes exactly one statement, of a kind that asks. The kinds are the parser's own: DESCRIBE,
// SHOW and SUMMARIZE are SELECT to it.
func prepare(conn *duckdb.Conn, text string) (*duckdb.Stmt, error) {
	s, err := conn.Prepare(text) // takes one statement only, unlike PrepareContext
	if _, says := errors.AsType[*duckdb.Error](err); err != nil && !says {
		return nil, refusal("write exactly one statement: a SELECT, EXPLAIN, DESCRIBE, SHOW or SUMMARIZE")
	}
	if err != nil {
		return nil, err
	}
	stmt, ok := s.(*duckdb.Stmt)
	if !ok {
		return nil, fmt.Errorf("preparing the statement: got a %T", s)
	}
	kind, err := stmt.StatementType()
	switch {
	case err != nil:
	case kind == duckdb.STATEMENT_TYPE_EXPLAIN:
		err = explains(conn, text)
	case kind != duckdb.STATEMENT_TYPE_SELECT:
		err = refusal("only one SELECT, EXPLAIN, DESCRIBE, SHOW or SUMMARIZE is allowed here: the database is read-only")
	}
	if err == nil && stmt.NumInput() > 0 {
		err = refusal("the statement has parameters: write their values into it")
	}
	if err != nil {
		return nil, errors.Join(err, stmt.Close())
	}
	return stmt, nil
}

var explain = regexp.MustCompile(`(?is)^\s*EXPLAIN\s+(?:ANALYZE\s+)?(.*)$`)

// explains makes sure that what is explained asks: EXPLAIN ANALYZE runs it, and the kind that the
// parser tells is that of the outer statement.
func explains(conn *duckdb.Conn, text string) error {
	found := explain.FindStringSubmatch(text)
	if found == nil || explain.MatchString(found[1]) {
		return refusal("write EXPLAIN or EXPLAIN ANALYZE, and then the SELECT itself")
	}
	inner, err := prepare(conn, found[1])
	if err != nil {
		return refusal("only a SELECT can be explained here, right after EXPLAIN or EXPLAIN ANALYZE: " + err.Error())
	}
	return inner.Close()
}

// collect encodes rows until one of the limits is reached.
func collect(stmt *duckdb.Stmt, rows driver.Rows, q duckwire.Query) (a duckwire.Answer, err error) {
	names := rows.Columns()
	types := make([]duckdb.TypeInfo, len(names))
	a.Columns = make([]duckwire.Column, len(names))
	for i, name := range names {
		// The type as text is the result's: that of a prepared statement may be unknown.
		if t, ok := rows.(driver.RowsColumnTypeDatabaseTypeName); ok {
			a.Columns[i].Type = t.ColumnTypeDatabaseTypeName(i)
		}
		a.Columns[i].Name = name
		if types[i], err = stmt.ColumnTypeInfo(i); err != nil {
			types[i] = nil // values show their form themselves
		}
	}
	head, err := json.Marshal(a.Columns)
	if err != nil || len(head) > q.Bytes {
		return duckwire.Answer{}, duckwire.Faultf(duckwire.CodeTooLarge, "the %d columns alone take %d bytes, more than the %d that an answer may have: select less, or give short names", len(names), len(head), q.Bytes)
	}
	values := make([]driver.Value, len(names))
	for left := q.Bytes; ; {
		switch err := rows.Next(values); {
		case errors.Is(err, io.EOF):
			return a, nil
		case err != nil:
			if _, says := errors.AsType[*duckdb.Error](err); !says {
				err = duckwire.Faultf(duckwire.CodeStatement, "the answer has a value that cannot be written as JSON (%v): cast it to VARCHAR, or name the fields of structs", err)
			}
			return a, err
		case len(a.Rows) == q.Rows:
			a.Truncated = duckwire.TruncatedRows
			return a, nil
		}
		row := appendRow(nil, types, values)
		if left -= len(row); left < 0 {
			if len(a.Rows) == 0 {
				return a, duckwire.Faultf(duckwire.CodeTooLarge, "the first row has %d bytes, more than the %d that an answer may have: select less", len(row), q.Bytes)
			}
			a.Truncated = duckwire.TruncatedBytes
			return a, nil
		}
		a.Rows = append(a.Rows, row)
	}
}

// grace is how much longer than its statement the process may take, by the clock and of the processor:
// to start, and to plan what cannot be interrupted.
const grace = 2 * time.Second
