//go:build cgo && linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/duckdb/duckdb-go/v2"

	"github.com/svc-gateway/svc/internal/duckwire"
)

// reported is an error of the database as it writes it with errors_as_json.
type reported struct {
	Type     string `json:"exception_type"`
	Message  string `json:"exception_message"`
	Position string `json:"position"` // in bytes from 0
}

// report reads an error of the database.
func report(err error) (reported, bool) {
	e, ok := errors.AsType[*duckdb.Error](err)
	if !ok {
		return reported{}, false
	}
	r := reported{Message: e.Msg}
	if i := strings.IndexByte(e.Msg, '{'); i >= 0 {
		var doc reported
		if json.Unmarshal([]byte(e.Msg[i:]), &doc) == nil && doc.Message != "" {
			return doc, true
		}
	}
	return r, true
}

// asFault says what went wrong with a statement, and where in it.
func asFault(ctx context.Context, err error, q duckwire.Query) *duckwire.Fault {
	if f, ok := errors.AsType[*duckwire.Fault](err); ok {
		return f
	}
	if r, ok := errors.AsType[refusal](err); ok {
		return duckwire.Faultf(duckwire.CodeRefused, "%s", string(r))
	}
	if ctx.Err() != nil {
		return duckwire.Faultf(duckwire.CodeTimeout, "the statement took longer than %s", q.Time)
	}
	r, ok := report(err)
	if !ok {
		return duckwire.Faultf(duckwire.CodeStatement, "%v", err)
	}
	f := duckwire.Faultf(duckwire.CodeStatement, "%s", r.Message)
	if r.Type != "" {
		f.Message = r.Type + ": " + r.Message
	}
	if r.Type == "Out of Memory" {
		f.Code = duckwire.CodeMemory
		f.Message = "the statement needs more memory than it may take (" + strconv.FormatInt(q.Memory>>20, 10) + " MiB): select, group or sort less, or add a LIMIT"
	}
	if at, err := strconv.Atoi(r.Position); err == nil {
		f.Line, f.Column = place(q.SQL, at)
	}
	return f
}

// place is the line and the column, both from 1, of a byte in a text.
func place(text string, at int) (line, column int64) {
	at = max(0, min(at, len(text)))
	before := text[:at]
	line = int64(strings.Count(before, "\n")) + 1
	column = int64(utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])) + 1
	return line, column
}
