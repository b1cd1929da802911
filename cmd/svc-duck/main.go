//go:build cgo && linux

// Command svc-duck is the helper with the analytical database, DuckDB. The service is built without
// cgo and starts it as a child process.
//
//	svc-duck write    the only writer: imports files, publishes snapshots (see writer.go)
//	svc-duck query    runs one statement on one snapshot, confined (see query.go)
//	svc-duck sql      the same for programs in a sandbox, whose users call it by hand (see statement.go)
//	svc-duck version  prints the version of the harness that it speaks
//
// What it is told and what it says is in package duckwire. A query is confined by layers that do not
// depend on each other: the parser's kind of the statement, the database's own settings, and the
// kernel, which lets the process open nothing but the snapshot, and that for reading only.
//
// Each process does one thing; the writer answers several requests at once and makes one change at
// a time.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"github.com/svc-gateway/svc/internal/compat"
	"github.com/svc-gateway/svc/internal/duckwire"
)

const usage = "usage: svc-duck write|query|version, which the service starts by itself\n       svc-duck sql [--rows N] [--bytes N] [STATEMENT]"

func main() {
	command := ""
	if len(os.Args) == 2 || len(os.Args) > 2 && os.Args[1] == duckwire.CommandSQL {
		command = os.Args[1]
	}
	switch command {
	case duckwire.CommandSQL:
		os.Exit(statement(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	case duckwire.CommandQuery:
		os.Exit(query(os.Stdin, os.Stdout))
	case duckwire.CommandWrite:
		os.Exit(write(os.Stdin, os.Stdout))
	case "version":
		fmt.Println(compat.Version)
	default:
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(2)
	}
}

// say writes one document as a line. Who does not read it any more does not want it.
func say(w io.Writer, doc any) {
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false) // the limit of bytes is for what the rows have
	if e.Encode(doc) == nil {
		_, _ = w.Write(printable(line.Bytes()))
	}
}

// printable writes the control characters that JSON may have in its strings, and that a sandbox does not
// let through, as escapes.
func printable(doc []byte) []byte {
	found := false
	for i, c := range doc {
		found = found || c == 0x7f || c == 0xc2 && i+1 < len(doc) && doc[i+1] < 0xa0
	}
	if !found {
		return doc
	}
	var out []byte
	for _, r := range string(doc) {
		if r >= 0x7f && r < 0xa0 {
			out = fmt.Appendf(out, `\u%04x`, r)
		} else {
			out = utf8.AppendRune(out, r)
		}
	}
	return out
}
