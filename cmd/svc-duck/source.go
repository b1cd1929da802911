//go:build cgo && linux

package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/svc-gateway/svc/internal/duckwire"
)

// longestLine is the longest line of a CSV file or a log, in bytes.
const longestLine = 16 << 20

// source is the file as something to select from. All rows are looked at before the types of columns
// are chosen, so that a value far down cannot contradict them.
func (f file) source(path string) (string, error) {
	compression := "none"
	if f.gzipped() {
		compression = "gzip"
	}
	at := quote(path)
	switch f.format {
	case duckwire.FormatCSV:
		return fmt.Sprintf("read_csv(%s, sample_size = -1, max_line_size = %d, compression = '%s')", at, longestLine, compression), nil
	case duckwire.FormatJSON:
		return fmt.Sprintf("read_json(%s, format = 'auto', sample_size = -1, compression = '%s')", at, compression), nil
	case duckwire.FormatParquet:
		return "read_parquet(" + at + ")", nil
	}
	// A log has no columns: every line is one, whatever is in it. The separator cannot be in a line.
	return fmt.Sprintf(`(SELECT row_number() OVER () AS line, %s AS file, coalesce(text, '') AS text FROM read_csv(%s, auto_detect = false, header = false,
		columns = {'text': 'VARCHAR'}, delim = '\n', quote = '', escape = '', comment = '', skip = 0, null_padding = false, ignore_errors = false, nullstr = [],
		max_line_size = %d, compression = '%s'))`, quote(f.name), at, longestLine, compression), nil
}

// explain says what is wrong with the file, and in which line where that can be found.
func (f file) explain(err error, path string) error {
	r, ok := report(err)
	if !ok {
		return fmt.Errorf("importing: %w", err)
	}
	fault := &duckwire.Fault{Code: duckwire.CodeData, File: f.name, Message: strings.ReplaceAll(r.Message, path, f.name)}
	if n, err := strconv.ParseInt(r.Position, 10, 64); err == nil {
		fault.Line = n
	}
	return fault
}
