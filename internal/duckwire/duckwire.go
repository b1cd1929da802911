// Package duckwire is what the service and its helper svc-duck say to each other.
//
// "svc-duck query" reads one [Query] as JSON from its standard input and writes one [Answer] to its
// standard output. "svc-duck write" reads one [Writer] as a line of JSON, writes one [Ready] as a
// line, and then answers HTTP on the unix socket that it was told of, until its standard input ends:
//
//	POST /snapshot?max_age_ms=N                           [Snapshot]
//	POST /import?name=N&table=T&format=F&mode=M&header=B  [Imported]; its body is a file
//	POST /messages?table=T&keep_ms=N                      [Added]; its body is messages, see [PathMessages]
//
// What goes wrong there is a [Fault] with a status of 400 or more. Both sides say which version of
// the harness they speak, in the field Version or in the header [VersionHeader], and refuse another
// side that [compat.Check] refuses. Everything here is plain data and constants.
package duckwire

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// The commands of the helper.
const (
	CommandWrite = "write"
	CommandQuery = "query"
	CommandSQL   = "sql" // for programs in a sandbox: the statement is an argument, the answer a document
)

// DatabaseVariable is the environment variable with the path of the database in a sandbox.
const DatabaseVariable = "SVC_DATABASE"

// The endpoints of the writer, and the header that every request and every answer has.
const (
	PathSnapshot  = "/snapshot"
	PathImport    = "/import"
	VersionHeader = "Svc-Harness"
)

// DatabaseFile is the name of the database in the writer's folder and in each generation's.
const DatabaseFile = "analytics.duckdb"

// ExitBusy is how the writer ends when another one has its folder.
const ExitBusy = 75

// Query asks for one statement on one generation. The helper's working directory is the folder of
// the generation, or [DatabaseVariable] has its file.
type Query struct {
	Version string        `json:"version"`
	SQL     string        `json:"sql"`
	Rows    int           `json:"rows"`    // most rows of the answer
	Bytes   int           `json:"bytes"`   // most bytes of the answer's rows, as JSON
	Time    time.Duration `json:"time"`    // how long the statement may take
	Memory  int64         `json:"memory"`  // bytes that it may take
	Threads int           `json:"threads"` // how many it may use
}

// Answer is what a statement gives, or why it gives nothing.
type Answer struct {
	Version   string            `json:"version"`
	Columns   []Column          `json:"columns,omitempty"`
	Rows      []json.RawMessage `json:"rows,omitempty"`      // an array of values each
	Truncated string            `json:"truncated,omitempty"` // the limit that cut the rows off: rows or bytes
	Degraded  []string          `json:"degraded,omitempty"`  // layers of confinement that this kernel does not have
	Fault     *Fault            `json:"fault,omitempty"`
}

// Document is an answer as JSON, with every row on a line of its own.
func (a Answer) Document() (string, error) {
	columns, err := json.Marshal(a.Columns)
	if err != nil {
		return "", fmt.Errorf("writing the answer: %w", err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "{\"columns\":%s,\n\"rows\":[", columns)
	for i, row := range a.Rows {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
		b.Write(row)
	}
	fmt.Fprintf(&b, "\n],\"row_count\":%d", len(a.Rows))
	if a.Truncated != "" {
		fmt.Fprintf(&b, ",\"truncated\":%q", "there are more rows: the answer has as many as its limit of "+a.Truncated+" allows")
	}
	b.WriteByte('}')
	return b.String(), nil
}

// What an answer was cut off by.
const (
	TruncatedRows  = "rows"
	TruncatedBytes = "bytes"
)

// Column is a column of an answer.
type Column struct {
	Name string `json:"name"`
	Type string `json:"type"` // as SQL names it, such as DECIMAL(18,3) or VARCHAR[]
}

// Writer tells the writer where its things are and what it may use.
type Writer struct {
	Version   string `json:"version"`
	Folder    string `json:"folder"`    // of the database, its own
	Snapshots string `json:"snapshots"` // folder of the generations, its own
	Socket    string `json:"socket"`
	Lock      string `json:"lock"`   // file that the only writer holds a lock on
	Memory    int64  `json:"memory"` // bytes
	Threads   int    `json:"threads"`
}

// Ready says that the socket answers, or why it will not.
type Ready struct {
	Version  string   `json:"version"`
	Degraded []string `json:"degraded,omitempty"`
	Fault    *Fault   `json:"fault,omitempty"`
}

// Snapshot is a generation: a folder with a database that never changes. Whoever uses it holds a
// shared flock on the database file, and asks again when the file is gone by then.
type Snapshot struct {
	Generation uint64    `json:"generation"`
	Folder     string    `json:"folder"`
	Created    time.Time `json:"created"`
}

// The forms of files that can be imported.
const (
	FormatCSV     = "csv"
	FormatJSON    = "json"
	FormatParquet = "parquet"
	FormatLines   = "lines"
)

// What to do with a table that exists.
const (
	ModeCreate  = "create" // refuse
	ModeAppend  = "append"
	ModeReplace = "replace"
)

// Imported says what became of a file.
type Imported struct {
	Table    string   `json:"table"`
	Rows     int64    `json:"rows"`
	Columns  []Column `json:"columns"`
	Duration int64    `json:"duration_ms"`
}

// The codes of faults.
const (
	CodeBadRequest  = "bad_request"         // what the other side sent makes no sense
	CodeVersion     = "version"             // it speaks another version of the harness
	CodeRefused     = "refused"             // a statement of a kind that is not allowed, or several
	CodeStatement   = "statement"           // the database does not take the statement
	CodeTimeout     = "timeout"             // it took too long
	CodeMemory      = "memory"              // it needs more memory than it may take
	CodeTooLarge    = "too_large"           // the first row does not fit
	CodeData        = "data"                // the file is not what it should be
	CodeExists      = "exists"              // the table is there
	CodeBusy        = "busy"                // another writer has the folder
	CodeUnavailable = "unavailable"         // the database cannot be opened, written or published
	CodeConfinement = "sandbox_unavailable" // the statement cannot be confined here
)

// Fault is an error that crosses a process's border.
type Fault struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	File    string `json:"file,omitempty"` // as the caller named it
	Line    int64  `json:"line,omitempty"`
	Column  int64  `json:"column,omitempty"` // in characters
}

// Error is the message behind its place: file:line:column, or line:column of a statement.
func (f *Fault) Error() string {
	switch {
	case f.File != "" && f.Line > 0 && f.Column > 0:
		return fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Column, f.Message)
	case f.File != "" && f.Line > 0:
		return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Message)
	case f.File != "":
		return f.File + ": " + f.Message
	case f.Line > 0:
		return fmt.Sprintf("line %d, column %d: %s", f.Line, f.Column, f.Message)
	}
	return f.Message
}

// Faultf returns a fault without a place.
func Faultf(code, format string, args ...any) *Fault {
	return &Fault{Code: code, Message: fmt.Sprintf(format, args...)}
}
