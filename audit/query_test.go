package audit_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/audit"
)

func TestQuery(t *testing.T) {
	l, path := open(t)
	calls(t, l)
	if err := l.RecordRun(t.Context(), audit.RunRecord{Run: "r1", User: "ann", TotalTokens: 7}); err != nil {
		t.Fatal(err)
	}
	if err := l.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	ways := map[string]func(query string, lim audit.Limits) ([]string, [][]any, error){
		"file": func(q string, lim audit.Limits) ([]string, [][]any, error) {
			return audit.Query(t.Context(), path, q, lim)
		},
		"copy": func(q string, lim audit.Limits) ([]string, [][]any, error) {
			return l.Query(t.Context(), audit.Filter{User: "ann"}, q, lim)
		},
	}
	for name, query := range ways {
		t.Run(name, func(t *testing.T) {
			columns, rows, err := query(`SELECT call, duration_ms, 1 AS n, NULL FROM tool_calls ORDER BY call -- ;`+"\n;", audit.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"call", "duration_ms", "n", "NULL"}, columns); diff != "" {
				t.Error(diff)
			}
			if len(rows) != 5 {
				t.Fatalf("got %d rows, want 5", len(rows))
			}
			if diff := cmp.Diff([]any{"done", 5.124, int64(1), nil}, rows[1]); diff != "" {
				t.Error(diff)
			}
			if _, rows, err = query(`SELECT sum(total_tokens) FROM audit_runs`, audit.Limits{}); err != nil || rows[0][0] != int64(7) {
				t.Errorf("got %v, %v; want 7 tokens", rows, err)
			}
			other := filepath.Join(t.TempDir(), "other.db")
			for q, want := range map[string]string{
				``:                                "it is empty",
				` ; `:                             "it is empty",
				`-- only this`:                    "it is empty",
				`DELETE FROM audit_events`:        `begins with "DELETE"`,
				`PRAGMA query_only = 0`:           `begins with "PRAGMA"`,
				`ATTACH '` + other + `' AS x`:     `begins with "ATTACH"`,
				`VACUUM INTO '` + other + `'`:     `begins with "VACUUM"`,
				`SELECT 1; DELETE FROM t`:         "more after its ';'",
				`SELECT 1; /* */ ATTACH 'x' AS x`: "more after its ';'",
				`EXPLAIN PRAGMA journal_mode = x`: `EXPLAIN is followed by "PRAGMA"`,
				`WITH x AS (SELECT 1) DELETE FROM audit_events`:                                      "readonly",
				`WITH x AS (SELECT 1) INSERT INTO audit_runs SELECT * FROM audit_runs`:               "readonly",
				"SELECT 1\x00; DELETE FROM t":                                                        "NUL",
				`SELECT unheard_of`:                                                                  "no such column",
				`SELECT load_extension('x')`:                                                         "", // an error, whatever its words
				`SELECT writefile('` + other + `', 'x')`:                                             "no such function",
				`SELECT length(zeroblob(900000000))`:                                                 "too big",
				`WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM c) SELECT max(n) FROM c`: "the query ran for",
			} {
				_, _, err := query(q, audit.Limits{Time: 300 * time.Millisecond})
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: got %v, want %q", q, err, want)
				}
			}
			if _, err := os.Stat(other); err == nil {
				t.Error("a file was written")
			}
			if _, rows, err = query(`SELECT seq FROM audit_events`, audit.Limits{Rows: 3}); !errors.Is(err, audit.ErrLimit) || len(rows) != 3 {
				t.Errorf("got %d rows, %v; want 3 and ErrLimit", len(rows), err)
			}
			if _, rows, err = query(`SELECT 'aaaaaaaaaa' FROM audit_events`, audit.Limits{Bytes: 25}); !errors.Is(err, audit.ErrLimit) || len(rows) != 2 {
				t.Errorf("got %d rows, %v; want 2 and ErrLimit", len(rows), err)
			}
		})
	}
	if _, rows, err := l.Query(t.Context(), audit.Filter{User: "bob"}, `SELECT user, seq FROM audit_events`, audit.Limits{}); err != nil || len(rows) != 1 || rows[0][0] != "bob" {
		t.Errorf("got %v, %v; want bob's row alone", rows, err)
	}
	if _, _, err := audit.Query(t.Context(), filepath.Join(t.TempDir(), "none.db"), `SELECT 1`, audit.Limits{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want os.ErrNotExist", err)
	}
}
