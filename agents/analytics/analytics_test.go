package analytics_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/agents/analytics"
	"github.com/svc-gateway/svc/internal/ducktest"
	"github.com/svc-gateway/svc/internal/duckwire"
)

// config is that of a database in a new folder.
func config(t testing.TB) analytics.Config {
	t.Helper()
	dir, err := os.MkdirTemp("", "duck") // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return analytics.Config{
		Helper: ducktest.Helper(t), Folder: filepath.Join(dir, "db"), Snapshots: filepath.Join(dir, "snapshots"),
		Socket: filepath.Join(dir, "s.sock"), Lock: filepath.Join(dir, "lock"),
		MaxAge: 30 * time.Second, Time: 10 * time.Second, Memory: 256 << 20, Threads: 2,
	}
}

func open(t testing.TB, c analytics.Config) *analytics.DB {
	t.Helper()
	db := analytics.Open(c)
	if err := db.Use(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func load(t testing.TB, db *analytics.DB, f analytics.File, text string) duckwire.Imported {
	t.Helper()
	if f.Mode == "" {
		f.Mode = duckwire.ModeCreate
	}
	done, err := db.Import(t.Context(), f, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// The lines of a log are kept whatever is in them.
func TestOddLines(t *testing.T) {
	db := open(t, config(t))
	done := load(t, db, analytics.File{Name: "x.log", Table: "x", Format: duckwire.FormatLines}, "a\xff\r\n"+strings.Repeat("y", 2<<20)+"\nlast\x00")
	if done.Rows != 3 {
		t.Errorf("got %d rows, want 3", done.Rows)
	}
	a, err := ask(db, "SELECT line, text[1:4], length(text) FROM x ORDER BY line")
	if want := `[[1,"a\ufffd",2],[2,"yyyy",1048576],[3,"last",5]]`; err != nil || strings.ReplaceAll(rows(a), "\ufffd", `\ufffd`) != want {
		t.Errorf("got %s, %v, want %s", rows(a), err, want)
	}
}

func TestDelimitersAndModes(t *testing.T) {
	db := open(t, config(t))
	load(t, db, analytics.File{Name: "a.csv", Table: "a", Format: duckwire.FormatCSV}, "n;t\n1;\"x,y,z\"\n")
	load(t, db, analytics.File{Name: "b.csv", Table: "a", Format: duckwire.FormatCSV, Mode: duckwire.ModeAppend}, "t,n\nz,2\n")
	load(t, db, analytics.File{Name: "c.tsv", Table: "c", Format: duckwire.FormatCSV, Headless: true}, "1\tx\n2\ty\n")
	load(t, db, analytics.File{Name: "c.tsv", Table: "c", Format: duckwire.FormatCSV, Mode: duckwire.ModeReplace}, "n\tx\n2\ty\n")
	a, err := db.Query(t.Context(), analytics.Query{SQL: "SELECT (SELECT list([n::VARCHAR, t] ORDER BY n) FROM a), (SELECT list([n::VARCHAR, x]) FROM c)", Rows: 1, Bytes: 1000})
	if want := `[[[["1","x,y,z"],["2","z"]],[["2","y"]]]]`; err != nil || rows(a) != want {
		t.Errorf("got %s, %v, want %s", rows(a), err, want)
	}
}

func ask(db *analytics.DB, sql string) (duckwire.Answer, error) {
	return db.Query(context.Background(), analytics.Query{SQL: sql, Rows: 100, Bytes: 64 << 10})
}

func rows(a duckwire.Answer) string {
	text, _ := json.Marshal(a.Rows)
	return string(text)
}

func TestImportAndQuery(t *testing.T) {
	db := open(t, config(t))
	for name, tt := range map[string]struct {
		file      analytics.File
		text      string
		sql, want string
	}{
		"csv": {
			analytics.File{Name: "sales.csv", Table: "sales", Format: duckwire.FormatCSV},
			"day,amount\n2026-01-02,3\n2026-01-03,4\n",
			"SELECT day, amount FROM sales ORDER BY day", `[["2026-01-02",3],["2026-01-03",4]]`,
		},
		"json array": {
			analytics.File{Name: "a.json", Table: "a", Format: duckwire.FormatJSON},
			`[{"n":1,"tags":["x","y"]},{"n":2,"tags":[]}]`,
			"SELECT * FROM a ORDER BY n", `[[1,["x","y"]],[2,[]]]`,
		},
		"json lines": {
			analytics.File{Name: "b.ndjson", Table: "b", Format: duckwire.FormatJSON},
			"{\"n\":1}\n{\"n\":2}\n",
			"SELECT sum(n) FROM b", `[[3]]`,
		},
		"log": {
			analytics.File{Name: "app.log", Table: "log", Format: duckwire.FormatLines},
			"first, \"with\" 'quotes'\n\nthird;\t|x\n",
			"SELECT line, file, text FROM log ORDER BY line", `[[1,"app.log","first, \"with\" 'quotes'"],[2,"app.log",""],[3,"app.log","third;\t|x"]]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			load(t, db, tt.file, tt.text)
			a, err := ask(db, tt.sql)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, rows(a)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestFaults(t *testing.T) {
	db := open(t, config(t))
	load(t, db, analytics.File{Name: "t.csv", Table: "t", Format: duckwire.FormatCSV}, "n\n1\n")
	for name, tt := range map[string]struct {
		file       analytics.File
		text, want string
	}{
		"csv":     {analytics.File{Name: "x.csv", Table: "x", Format: duckwire.FormatCSV}, "a,b\n1,2\n3,4,5,6\n7,8\n", "x.csv:3"},
		"quote":   {analytics.File{Name: "x.csv", Table: "x", Format: duckwire.FormatCSV}, "a,b\n1,2\n3,\"4\n7,8\n", "x.csv:3"},
		"json":    {analytics.File{Name: "x.json", Table: "x", Format: duckwire.FormatJSON}, "{\"a\":1}\n{\"a\":\n", "x.json:2"},
		"array":   {analytics.File{Name: "x.json", Table: "x", Format: duckwire.FormatJSON}, "[{\"a\":1},\n{\"a\":]\n", "x.json:2"},
		"parquet": {analytics.File{Name: "x.parquet", Table: "x", Format: duckwire.FormatParquet}, "no parquet at all", "x.parquet:"},
		"append":  {analytics.File{Name: "x.csv", Table: "t", Format: duckwire.FormatCSV, Mode: duckwire.ModeAppend}, "n\n1\nno\n", "x.csv:3"},
		"gzip":    {analytics.File{Name: "x.log.gz", Table: "x", Format: duckwire.FormatLines}, "a\n", "not compressed"},
		"exists":  {analytics.File{Name: "x.csv", Table: "T", Format: duckwire.FormatCSV}, "n\n1\n", "exists"},
		"table":   {analytics.File{Name: "x.csv", Table: "a b", Format: duckwire.FormatCSV}, "n\n1\n", "table name"},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.file.Mode == "" {
				tt.file.Mode = duckwire.ModeCreate
			}
			_, err := db.Import(t.Context(), tt.file, strings.NewReader(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			t.Log(err)
		})
	}
	for sql, want := range map[string]string{
		"SELECT n,\n nope FROM t":                "line 2, column 2: ",
		"SELECT * FORM t":                        "line 1, column ",
		"SELECT * FROM missing":                  "missing",
		"SELECT 1; SELECT 2":                     "exactly one statement",
		"":                                       "exactly one statement",
		"SELECT (1, 2)":                          "name the fields",
		"SELECT ?":                               "parameters",
		"SELECT * FROM range(10000000000)":       "memory",
		"EXPLAIN ANALYZE INSERT INTO t SELECT 1": "only a SELECT can be explained",
		"EXPLAIN (FORMAT json) SELECT 1":         "only a SELECT can be explained",
		"SELECT 1 AS \"" + strings.Repeat("x", 100000) + "\"": "columns alone",
		"INSERT INTO t VALUES (2)":                            "only one SELECT",
		"SELECT CAST('x' AS INTEGER)":                         "x",
		"SELECT repeat('x', 100000) AS big":                   "first row",
	} {
		_, err := ask(db, sql)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", sql, err, want)
		}
		t.Log(sql, "=>", err)
	}
}

func TestValues(t *testing.T) {
	db := open(t, config(t))
	for sql, want := range map[string]string{
		"SELECT 9007199254740992, 9007199254740993, -9007199254740993":                                                           `[[9007199254740992,"9007199254740993","-9007199254740993"]]`,
		"SELECT 170141183460469231731687303715884105727::HUGEINT":                                                                `[["170141183460469231731687303715884105727"]]`,
		"SELECT 18446744073709551615::UBIGINT, 1::UTINYINT":                                                                      `[["18446744073709551615",1]]`,
		"SELECT 1.50::DECIMAL(10,2), 0.5::DOUBLE, 'nan'::DOUBLE, '-inf'::FLOAT":                                                  `[["1.50",0.5,"NaN","-Infinity"]]`,
		"SELECT TIMESTAMP '2026-01-02 03:04:05.678', DATE '2026-01-02', TIME '03:04:05.5'":                                       `[["2026-01-02T03:04:05.678Z","2026-01-02","03:04:05.5"]]`,
		"SELECT TIMESTAMPTZ '2026-01-02 03:04:05+02', 'infinity'::TIMESTAMP":                                                     `[["2026-01-02T01:04:05Z","infinity"]]`,
		"SELECT '\\x00\\xFF'::BLOB, NULL, true, '10101'::BIT":                                                                    `[["AP8=",null,true,"10101"]]`,
		"SELECT [1, NULL, 3], {'b': 1, 'a': DATE '2026-01-02'}, MAP {'k': 1.5::DECIMAL(3,1)}, MAP {1: 'x'}":                      `[[[1,null,3],{"b":1,"a":"2026-01-02"},{"k":"1.5"},[[1,"x"]]]]`,
		"SELECT uuid '4ac7a9e9-607c-4c8a-84f3-843f0191e3fd', INTERVAL '2 months 3 days 4.5 seconds', INTERVAL '-1 microseconds'": `[["4ac7a9e9-607c-4c8a-84f3-843f0191e3fd","P2M3DT4.5S","PT-0.000001S"]]`,
		"SELECT [uuid '4ac7a9e9-607c-4c8a-84f3-843f0191e3fd'], union_value(num := 2), [[1],[2]]":                                 `[[["4ac7a9e9-607c-4c8a-84f3-843f0191e3fd"],{"num":2},[[1],[2]]]]`,
		"SELECT 'a'::ENUM('a','b'), '<&>', '{\"x\": 1.5}'::JSON":                                                                 `[["a","\u003c\u0026\u003e",{"x":1.5}]]`,
	} {
		a, err := ask(db, sql)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		if got := rows(a); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", sql, got, want)
		}
	}
}

func TestKindsThatAsk(t *testing.T) {
	db := open(t, config(t))
	load(t, db, analytics.File{Name: "t.csv", Table: "t", Format: duckwire.FormatCSV}, "n,s\n1,a\n2,b\n")
	for _, sql := range []string{
		"SELECT * FROM t", "FROM t", "WITH x AS (SELECT 1) SELECT * FROM x", "EXPLAIN SELECT * FROM t", "EXPLAIN ANALYZE SELECT * FROM t", "DESCRIBE t", "SHOW TABLES", "SHOW ALL TABLES", "SUMMARIZE t", "VALUES (1)",
		"SELECT 1; -- and nothing else",
	} {
		if a, err := ask(db, sql); err != nil || len(a.Rows) == 0 {
			t.Errorf("%s: got %s, %v", sql, rows(a), err)
		}
	}
}

func TestLimits(t *testing.T) {
	c := config(t)
	c.Time = time.Second
	db := open(t, c)
	a, err := ask(db, "SELECT * FROM range(1000000)")
	if err != nil || len(a.Rows) != 100 || a.Truncated != duckwire.TruncatedRows {
		t.Errorf("a million rows: got %d, %q, %v", len(a.Rows), a.Truncated, err)
	}
	a, err = ask(db, "SELECT repeat('x', 10000) FROM range(100)")
	if err != nil || len(a.Rows) != 6 || a.Truncated != duckwire.TruncatedBytes {
		t.Errorf("long rows: got %d, %q, %v", len(a.Rows), a.Truncated, err)
	}
	begun := time.Now()
	_, err = ask(db, "SELECT count(*) FROM range(1000000000000)")
	if f, ok := errors.AsType[*duckwire.Fault](err); !ok || f.Code != duckwire.CodeTimeout {
		t.Errorf("endless: got %v", err)
	}
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
}

func TestMissing(t *testing.T) {
	db := analytics.Open(analytics.Config{Helper: "/nonexistent/svc-duck"})
	if _, err := ask(db, "SELECT 1"); !errors.Is(err, analytics.ErrMissing) {
		t.Errorf("got %v", err)
	}
}

func TestManyRows(t *testing.T) {
	db := open(t, config(t))
	var b strings.Builder
	b.WriteString("id,name,amount,day,ratio\n")
	for i := range 1_000_000 {
		fmt.Fprintf(&b, "%d,customer %d,%d.%02d,2026-01-%02d,%f\n", i, i*7919%100003, i%1000, i%100, i%28+1, float64(i)/3)
	}
	load(t, db, analytics.File{Name: "big.csv", Table: "big", Format: duckwire.FormatCSV}, b.String())
	a, err := ask(db, "SELECT count(*) FROM big")
	if err != nil || rows(a) != "[[1000000]]" {
		t.Fatalf("got %s, %v", rows(a), err)
	}
	if _, err := ask(db, "SELECT day, sum(amount) FROM big GROUP BY day ORDER BY day LIMIT 5"); err != nil {
		t.Fatal(err)
	}
}
