//go:build cgo && linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"database/sql/driver"
	"encoding/json"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/duckdb/duckdb-go/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/internal/duckwire"
)

// Every value becomes valid JSON, and text comes back as it was.
func FuzzValues(f *testing.F) {
	f.Add("text", []byte{0xff}, int64(1)<<60, 0.5, uint64(1)<<63)
	f.Add("\x00\u2028<", []byte(nil), int64(-1), 1e300, uint64(0))
	f.Fuzz(func(t *testing.T, s string, b []byte, i int64, x float64, u uint64) {
		keys := duckdb.OrderedMap{}
		keys.Set(s, i)
		numbers := duckdb.OrderedMap{}
		numbers.Set(i, x)
		values := []driver.Value{
			s, b, i, x, u, float32(x), nil, i > 0, time.UnixMicro(i).UTC(),
			duckdb.Interval{Days: int32(i), Months: int32(u), Micros: i},
			duckdb.Decimal{Width: 38, Scale: uint8(u % 39), Value: big.NewInt(i)},
			[]any{s, b, x},
			map[string]any{s: x, s + "b": b},
			keys, numbers,
			duckdb.Union{Tag: s, Value: x},
		}
		row := appendRow(nil, make([]duckdb.TypeInfo, len(values)), values)
		var back []any
		if err := json.Unmarshal(row, &back); err != nil {
			t.Fatalf("%v: %s", err, row)
		}
		if len(back) != len(values) {
			t.Fatalf("got %d values of %d: %s", len(back), len(values), row)
		}
		if utf8.ValidString(s) && back[0] != s {
			t.Errorf("got %q, want %q", back[0], s)
		}
	})
}

// The place of a byte leads back to it.
func FuzzPlace(f *testing.F) {
	f.Add("SELECT n,\n nope", 11)
	f.Add("ä\nö", -1)
	f.Fuzz(func(t *testing.T, text string, at int) {
		line, column := place(text, at)
		lines := strings.Split(text, "\n")
		if line < 1 || int(line) > len(lines) || column < 1 || int(column) > utf8.RuneCountInString(lines[line-1])+1 {
			t.Errorf("place(%q, %d): got %d:%d", text, at, line, column)
		}
	})
}

// Reading line by line loses no line and nothing of it, and does not depend on the buffer.
func FuzzReadLine(f *testing.F) {
	f.Add([]byte("a\nb"), uint8(1))
	f.Add([]byte("\n\r\n"), uint8(200))
	f.Fuzz(func(t *testing.T, text []byte, size uint8) {
		r := bufio.NewReaderSize(bytes.NewReader(text), int(size))
		var got []string
		for {
			line, more, err := readLine(r)
			if !more {
				break
			}
			got = append(got, line)
			if err != nil {
				break
			}
		}
		var want []string
		for line := range strings.Lines(string(text)) {
			want = append(want, strings.TrimRight(line, "\r\n"))
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") || len(got) != len(want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// Whatever statement is taken, and whatever it says, no file is changed, made or removed, by the
// first two layers alone. The kernel's are not in place here.
func FuzzStatements(f *testing.F) {
	for _, a := range attacks {
		f.Add(a.sql)
	}
	for _, sql := range []string{"FROM t", "SUMMARIZE t", "EXPLAIN SELECT 1", "SELECT * FROM duckdb_settings()", "PIVOT t ON n USING sum(n)", "CALL pragma_version()"} {
		f.Add(sql)
	}
	dir := folder(f)
	before := state(f, dir)
	q := duckwire.Query{Rows: 10, Bytes: 1 << 10, Time: 200 * time.Millisecond, Memory: 32 << 20, Threads: 1}
	f.Fuzz(func(t *testing.T, sql string) {
		q := q
		q.SQL = sql
		ctx, cancel := context.WithTimeout(t.Context(), q.Time)
		defer cancel()
		a, err := run(ctx, q)
		if err != nil {
			asFault(ctx, err, q)
		}
		for _, row := range a.Rows {
			if !json.Valid(row) {
				t.Errorf("%q: the row %s is no JSON", sql, row)
			}
		}
		if d := cmp.Diff(before, state(t, dir)); d != "" {
			t.Errorf("%q: files changed (-before +after):\n%s", sql, d)
		}
	})
}

// state is what is in a folder.
func state(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			all[path] = ""
			return err
		}
		text, err := os.ReadFile(path)
		all[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
