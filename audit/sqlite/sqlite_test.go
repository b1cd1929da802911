package sqlite_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/audit/audittest"
	"github.com/svc-gateway/svc/audit/sqlite"
)

func TestConformance(t *testing.T) {
	audittest.Conformance(t, func(t *testing.T) audit.Store {
		s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "audit.db"))
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}

func open(t testing.TB) (*audit.Log, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "audit.db")
	return audittest.Open(t, path), path
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
	// Those of one rare type cost nothing but that.
	if n := sqlite3(t, path, `select count(*) from sqlite_master where type = 'index' and tbl_name = 'audit_events' and sql not like '%where type = %'`); n != "3\n" {
		t.Errorf("got %s indexes that every event may cost, want 3", n)
	}
	for query, index := range map[string]string{
		`select run from audit_events where type = 'run.end' and time < 'a' and (time, seq) > ('', 0) order by time, seq`: "audit_events_over",
		`select input from audit_events where type = 'archive' order by seq`:                                              "audit_events_archive",
		`delete from audit_runs where run = 'a'`:                                                                          "audit_runs_run",
	} {
		if plan := sqlite3(t, path, `explain query plan `+query); !strings.Contains(plan, index) || strings.Contains(plan, "TEMP") {
			t.Errorf("%s does not use the index %s:\n%s", query, index, plan)
		}
	}
	plan := sqlite3(t, path, `explain query plan select * from tool_calls`)
	if strings.Contains(plan, "TEMP") || strings.Count(plan, "USING INDEX audit_events_call")+strings.Count(plan, "USING COVERING INDEX audit_events_call") < 2 {
		t.Errorf("tool_calls does not use its index:\n%s", plan)
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
	mark, err := l.Mark(t.Context())
	if err != nil || mark.Log == "" || mark.Seq != want[len(want)-1].Seq {
		t.Errorf("got the mark %+v, %v", mark, err)
	}
	for _, p := range []string{path, copied} {
		r, err := sqlite.OpenReader(t.Context(), p)
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
		if m, err := r.Mark(t.Context()); m != mark || err != nil {
			t.Errorf("%s: got %+v, %v; want %+v", p, m, err, mark)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := exec.LookPath("sqlite3"); err != nil {
		t.Skip("sqlite3 is missing: sudo .ci/setup")
	}
	if out, err := exec.CommandContext(t.Context(), "sqlite3", copied, `UPDATE audit_events SET user = 'mallory' WHERE seq = 3`).CombinedOutput(); err != nil {
		t.Fatalf("sqlite3: %v: %s", err, out)
	}
	r, err := sqlite.OpenReader(t.Context(), copied)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if n, err := r.Verify(t.Context(), audit.Filter{}); n != int64(len(want))-1 || err == nil || !strings.Contains(err.Error(), "event 3") {
		t.Errorf("a changed row: got %d, %v; want an error that names event 3, and the others checked", n, err)
	}
	never := func(*audit.Event) bool { return false }
	if err := r.VerifyNewest(t.Context(), len(want), never); err == nil || !strings.Contains(err.Error(), "event 3") {
		t.Errorf("the newest: got %v, want an error that names event 3", err)
	}
	if err := r.VerifyNewest(t.Context(), len(want), func(e *audit.Event) bool { return e.Seq == 3 }); err != nil {
		t.Errorf("the newest, back to the changed row: got %v", err)
	}
}
