//go:build cgo && linux

package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/duckdb/duckdb-go/v2"

	"github.com/svc-gateway/svc/internal/duckwire"
)

// longestLine is the longest line of a log, in bytes. What is longer is cut.
const longestLine = 1 << 20

// source is the file as something to select from. All rows are looked at before the types of columns
// are chosen, so that a value far down cannot contradict them.
func (f file) source(path, options string) string {
	at := quote(path)
	switch f.format {
	case duckwire.FormatCSV:
		compression := "none"
		if f.gzipped() {
			compression = "gzip"
		}
		return fmt.Sprintf(`read_csv(%s, sample_size = -1, delim = %s, quote = '"', escape = '"', header = %t, skip = 0, compression = '%s'%s)`,
			at, quote(string(f.delimiter)), !f.headless, compression, options)
	case duckwire.FormatJSON:
		compression := "uncompressed"
		if f.gzipped() {
			compression = "gzip"
		}
		return fmt.Sprintf("read_json(%s, format = 'auto', sample_size = -1, compression = '%s'%s)", at, compression, options)
	}
	return "read_parquet(" + at + options + ")"
}

// delimiters are what may stand between the values of a CSV file, the likeliest first.
const delimiters = ",;\t|"

// maxHead is how much of a CSV file is looked at for the end of its first line, in bytes.
const maxHead = 1 << 20

// findDelimiter sets what stands most often in the first line of a CSV file, outside of quotes. The
// database would try more, and take a file with a wrong line for one of another form.
func (f *file) findDelimiter(path string) error {
	from, err := f.reader(path)
	if err != nil {
		return err
	}
	defer from.Close()
	r := bufio.NewReader(io.LimitReader(from, maxHead))
	counts := map[byte]int{}
	for quoted := false; ; {
		c, err := r.ReadByte()
		if err != nil || c == '\n' && !quoted {
			break
		}
		switch {
		case c == '"':
			quoted = !quoted
		case !quoted:
			counts[c]++
		}
	}
	f.delimiter = delimiters[0]
	for i := range len(delimiters) {
		if counts[delimiters[i]] > counts[f.delimiter] {
			f.delimiter = delimiters[i]
		}
	}
	return nil
}

// reader reads the kept file as the client meant it, without its compression.
func (f file) reader(path string) (io.ReadCloser, error) {
	from, err := os.Open(path)
	if err != nil || !f.gzipped() {
		return from, err
	}
	z, err := gzip.NewReader(from)
	if err != nil {
		return nil, errors.Join(&duckwire.Fault{Code: duckwire.CodeData, File: f.name, Message: "the file is not compressed with gzip, as its name says"}, from.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{z, from}, nil
}

// insertLines imports a log: every line is a row, whatever is in it, with its number and the file's
// name.
func (f file) insertLines(ctx context.Context, conn *sql.Conn, tx *sql.Tx, path string, appending bool) (rows int64, err error) {
	if !appending {
		if _, err := tx.ExecContext(ctx, "CREATE OR REPLACE TABLE "+name(f.table)+" (line BIGINT, file VARCHAR, text VARCHAR)"); err != nil {
			return 0, err
		}
	}
	from, err := f.reader(path)
	if err != nil {
		return 0, err
	}
	defer from.Close()
	err = conn.Raw(func(raw any) error {
		c, ok := raw.(driver.Conn)
		if !ok {
			return fmt.Errorf("got a %T", raw)
		}
		a, err := duckdb.NewAppenderFromConn(c, "", f.table)
		if err != nil {
			return err
		}
		rows, err = f.appendLines(ctx, a, from)
		return errors.Join(err, a.Close())
	})
	return rows, err
}

func (f file) appendLines(ctx context.Context, a *duckdb.Appender, from io.Reader) (n int64, err error) {
	r := bufio.NewReaderSize(from, 64<<10)
	for {
		line, more, err := readLine(r)
		if errors.Is(err, io.EOF) && !more {
			return n, nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return n, &duckwire.Fault{Code: duckwire.CodeData, File: f.name, Line: n + 1, Message: err.Error()}
		}
		n++
		if err := a.AppendRow(n, f.name, strings.ToValidUTF8(line, "\ufffd")); err != nil {
			return n, err
		}
		if n%4096 == 0 && ctx.Err() != nil {
			return n, ctx.Err()
		}
	}
}

// readLine reads a line without its end and cuts a long one. There is a line if more or err is nil.
func readLine(r *bufio.Reader) (line string, more bool, err error) {
	var b strings.Builder
	for {
		piece, err := r.ReadSlice('\n')
		more = more || len(piece) > 0
		b.Write(piece[:min(len(piece), longestLine-b.Len())])
		if !errors.Is(err, bufio.ErrBufferFull) {
			return strings.TrimRight(b.String(), "\r\n"), more, err
		}
	}
}
