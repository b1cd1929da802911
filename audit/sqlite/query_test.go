package sqlite_test

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/audit/sqlite"
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
	reader, err := sqlite.OpenReader(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	ways := map[string]func(query string, lim audit.Limits) ([]string, [][]any, error){
		"file": func(q string, lim audit.Limits) ([]string, [][]any, error) {
			return reader.Query(t.Context(), audit.Filter{}, q, lim)
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
				lim := audit.Limits{Time: time.Minute} // a busy machine may take more than the default
				if want == "the query ran for" {
					lim.Time = 300 * time.Millisecond
				}
				_, _, err := query(q, lim)
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
	if _, err := sqlite.OpenReader(t.Context(), filepath.Join(t.TempDir(), "none.db")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want os.ErrNotExist", err)
	}
}

// held is a log of which only reading matters.
type held struct {
	audit.Store
	size  int           // of the output of each event
	yield int           // events
	stuck chan struct{} // closed when reading waits for its context, which it does when not nil
}

func (h held) Events(ctx context.Context, f audit.Filter) iter.Seq2[audit.Event, error] {
	return func(yield func(audit.Event, error) bool) {
		if h.stuck != nil {
			close(h.stuck)
			<-ctx.Done()
			yield(audit.Event{}, ctx.Err())
			return
		}
		for seq := int64(min(h.yield, f.Limit)); seq > 0; seq-- {
			if !yield(audit.Event{Seq: seq, Time: time.Now(), Type: audit.ToolEnd, Node: "n", Hash: "h", Output: strings.Repeat("x", h.size)}, nil) {
				return
			}
		}
	}
}

func (h held) Runs(context.Context, audit.Filter) iter.Seq2[audit.RunRecord, error] {
	return func(yield func(audit.RunRecord, error) bool) {
		yield(audit.RunRecord{Seq: 1, Time: time.Now(), Node: "n", Run: "r", Hash: "h"}, nil)
	}
}

func (h held) Query(ctx context.Context, f audit.Filter, query string, l audit.Limits) ([]string, [][]any, error) {
	return sqlite.QueryCopy(ctx, h, f, query, l)
}

// A user whose calls printed much asks the audit log: 4,000 outputs of 128 KiB were copied into
// memory, a gigabyte, before any limit applied. Copying ends at its limit, with the newest events,
// and the result says that it is not of all of them.
func TestQueryCopyIsBounded(t *testing.T) {
	l := audit.New(held{size: 128 << 10, yield: 4000}, "n")
	for limit, want := range map[int]int64{1 << 20: 7, 0: 511} {
		_, rows, err := l.Query(t.Context(), audit.Filter{Newest: true, Limit: 10_000}, `SELECT count(*), max(seq), (SELECT count(*) FROM audit_runs) FROM audit_events`, audit.Limits{Copy: limit, Time: time.Minute})
		if !errors.Is(err, audit.ErrLimit) || !strings.Contains(err.Error(), "the others are not in the result") || len(rows) != 1 {
			t.Fatalf("got %v, %v; want one row and ErrLimit", rows, err)
		}
		if diff := cmp.Diff([]any{want, int64(4000), int64(1)}, rows[0]); diff != "" {
			t.Errorf("with a limit of %d: %s", limit, diff)
		}
	}
	l = audit.New(held{size: 10, yield: 20_000}, "n")
	if _, rows, err := l.Query(t.Context(), audit.Filter{Newest: true, Limit: 10_000}, `SELECT count(*) FROM audit_events`, audit.Limits{Time: time.Minute}); err != nil || rows[0][0] != int64(10_000) {
		t.Errorf("got %v, %v; want 10,000 small events", rows, err)
	}
}

// The time limit includes the copying, which began before it: a slow disk held the caller for as
// long as it took.
func TestQueryCopyIsTimed(t *testing.T) {
	h := held{stuck: make(chan struct{})}
	_, _, err := audit.New(h, "n").Query(t.Context(), audit.Filter{}, `SELECT 1`, audit.Limits{Time: 3 * time.Second})
	if !errors.Is(err, audit.ErrLimit) || !strings.Contains(err.Error(), "the query ran for") {
		t.Errorf("got %v, want ErrLimit", err)
	}
	select {
	case <-h.stuck:
	default:
		t.Error("the time was over before the copying began: the test shows nothing")
	}
}
