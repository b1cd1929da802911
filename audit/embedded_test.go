package audit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/audit/audittest"
)

func TestConformance(t *testing.T) {
	audittest.Conformance(t, func(t *testing.T) audit.Store {
		s, err := audit.OpenStore(t.Context(), filepath.Join(t.TempDir(), "audit.db"))
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}

// calls is the life of some tool calls.
func calls(t *testing.T, l *audit.Log) {
	t.Helper()
	tool := func(typ, call string, more func(*audit.Event)) audit.Event {
		e := audit.Event{Type: typ, Run: "r1", Call: call, User: "ann", Agent: "core", Tool: "df", Time: time.Date(2027, 1, 31, 9, 30, 0, 0, time.UTC)}
		if more != nil {
			more(&e)
		}
		return e
	}
	allow := func(e *audit.Event) { e.Decision, e.Rule, e.Action, e.Input = "allow", "table", "use", "{}" }
	events := []audit.Event{
		tool(audit.ToolStart, "done", allow),
		tool(audit.ToolEnd, "done", func(e *audit.Event) { e.Output, e.Duration = "42%", 0.0051239 }),
		tool(audit.ToolStart, "failed", allow),
		tool(audit.ToolError, "failed", func(e *audit.Event) { e.Error, e.Status, e.Duration = "too slow", "timeout", 60 }),
		tool(audit.ToolStart, "going on", allow),
		tool(audit.ToolDenied, "denied", func(e *audit.Event) { e.Decision, e.Rule, e.Reasons = "deny", "no", []string{"because"} }),
		tool(audit.ToolStart, "revoked", allow),
		tool(audit.ToolDenied, "revoked", func(e *audit.Event) { e.Decision, e.Rule = "deny", "principal" }),
		{Type: audit.ToolEnd, Run: "r2", Call: "done", Output: "of another run"},
		{Type: audit.LoginFailed, User: "eve", Address: "192.0.2.66"},
		{Type: audit.Request, Method: "GET", Path: "/threads", Code: 401},
		{Type: audit.Request, Method: "GET", Path: "/threads", Code: 200, User: "bob"},
	}
	if err := l.Record(t.Context(), events...); err != nil {
		t.Fatal(err)
	}
}

func sqlite3(t *testing.T, path, query string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "sqlite3", "-readonly", path, query).CombinedOutput()
	if err != nil {
		t.Fatalf("sqlite3: %v: %s", err, out)
	}
	return string(out)
}

// What people type, in the program they type it into, while the log is open.
func TestViews(t *testing.T) {
	if _, err := exec.LookPath("sqlite3"); err != nil {
		t.Skip("sqlite3 is not installed")
	}
	l, path := open(t)
	calls(t, l)
	got := sqlite3(t, path, `select call, tool, decision, rule, status, duration_ms, output, error from tool_calls`)
	want := `done|df|allow|table|success|5.124|42%|
failed|df|allow|table|timeout|60000.0||too slow
going on|df|allow|table|started|||
denied|df|deny|no|denied|||
revoked|df|deny|principal|denied|||
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tool_calls (-want +got):\n%s", diff)
	}
	got = sqlite3(t, path, `select type, user, call, code, rule, reasons from denials`)
	want = `tool.denied|ann|denied||no|["because"]
tool.denied|ann|revoked||principal|
login.failed|eve||||
request|||401||
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("denials (-want +got):\n%s", diff)
	}
	if got, want := sqlite3(t, path, `select time from tool_calls limit 1`), "2027-01-31T09:30:00.000Z\n"; got != want {
		t.Errorf("got time %q, want %q", got, want)
	}
	if schema := sqlite3(t, path, `.schema audit_events`); !strings.Contains(schema, "-- arguments as the model wrote them") {
		t.Errorf("the schema does not explain itself:\n%s", schema)
	}
	if n := sqlite3(t, path, `select count(*) from sqlite_master where type = 'index' and sql is not null`); n != "3\n" {
		t.Errorf("got %s indexes, want 3", n)
	}
	plan := sqlite3(t, path, `explain query plan select * from tool_calls`)
	if strings.Contains(plan, "TEMP") || strings.Count(plan, "USING INDEX audit_events_call")+strings.Count(plan, "USING COVERING INDEX audit_events_call") < 2 {
		t.Errorf("tool_calls does not use its index:\n%s", plan)
	}
}

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

func TestReaderAndBackup(t *testing.T) {
	l, path := open(t)
	calls(t, l)
	copied := filepath.Join(filepath.Dir(path), "copy.db")
	if err := l.Backup(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	want, err := l.Events(t.Context(), audit.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{path, copied} {
		r, err := audit.OpenReader(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.Events(t.Context(), audit.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", p, diff)
		}
		if n, err := r.Verify(t.Context(), audit.Filter{}); n != int64(len(want)) || err != nil {
			t.Errorf("%s: got %d, %v; want %d", p, n, err, len(want))
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "sqlite3", copied, `UPDATE audit_events SET user = 'mallory' WHERE seq = 3`).CombinedOutput(); err != nil {
		t.Skipf("sqlite3: %v: %s", err, out)
	}
	r, err := audit.OpenReader(t.Context(), copied)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if n, err := r.Verify(t.Context(), audit.Filter{}); n != 2 || err == nil || !strings.Contains(err.Error(), "event 3") {
		t.Errorf("a changed row: got %d, %v; want an error that names event 3", n, err)
	}
}

// The log on a disk that fills up: what cannot be recorded is refused and Healthy says so; once there
// is room it goes on by itself and has lost nothing that was accepted. A process of its own, because
// RLIMIT_FSIZE, which stops root too, is the process's.
func TestUnavailable(t *testing.T) {
	const env = "AUDIT_TEST_FULL"
	if path := os.Getenv(env); path != "" {
		fillUp(t, path)
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, "-test.run=^TestUnavailable$")
	cmd.Env = append(os.Environ(), env+"="+filepath.Join(t.TempDir(), "audit.db"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func fillUp(t *testing.T, path string) {
	signal.Ignore(unix.SIGXFSZ)
	limit := func(n uint64) {
		t.Helper()
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: n, Max: unix.RLIM_INFINITY}); err != nil {
			t.Fatal(err)
		}
	}
	l, err := audit.Open(t.Context(), path, "n")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	e := audit.Event{Type: audit.Admin, Status: "before"}
	if err := l.Record(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	if err := l.Healthy(t.Context()); err != nil {
		t.Fatal(err)
	}
	limit(4 << 10)
	e.Status = "refused"
	if err := l.Record(t.Context(), e); !errors.Is(err, audit.ErrUnavailable) {
		t.Fatalf("got %v, want ErrUnavailable", err)
	}
	if err := l.Healthy(t.Context()); !errors.Is(err, audit.ErrUnavailable) {
		t.Fatalf("Healthy: got %v, want ErrUnavailable", err)
	}
	e.Status = "accepted"
	if err := l.Queue(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	limit(unix.RLIM_INFINITY)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for l.Healthy(ctx) != nil {
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			t.Fatal("the log does not recover")
		}
	}
	e.Status = "after"
	if err := l.Record(ctx, e); err != nil {
		t.Fatal(err)
	}
	var got []string
	events, err := l.Events(ctx, audit.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		got = append(got, e.Status)
	}
	if fmt.Sprint(got) != "[before accepted after]" {
		t.Errorf("got %v", got)
	}
}

func TestEventJSON(t *testing.T) {
	b, err := json.Marshal(audit.Event{Type: audit.Login, User: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	if want := []byte(`{"time":"0001-01-01T00:00:00Z","type":"login","user":"ann"}`); !bytes.Equal(b, want) {
		t.Errorf("got %s, want %s", b, want)
	}
}
