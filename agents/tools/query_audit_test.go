package tools

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/audit"
	"github.com/svc-gateway/svc/audit/audittest"
	"github.com/svc-gateway/svc/policy"
)

func openAudit(t *testing.T) auditor {
	t.Helper()
	log := audittest.Open(t, filepath.Join(t.TempDir(), "audit.db"))
	for _, user := range []string{"alice", "bob"} {
		err := log.Record(
			t.Context(),
			audit.Event{Type: audit.ToolStart, Run: "run-" + user, Call: "c1", User: user, Agent: "core", Tool: "run_command", Input: `{"command":"df -h"}`, Decision: "allow"},
			audit.Event{Type: audit.ToolEnd, Run: "run-" + user, Call: "c1", User: user, Agent: "core", Tool: "run_command", Output: "a|b\nc", Duration: 0.25, Status: "success"},
			audit.Event{Type: audit.ToolDenied, Run: "run-" + user, Call: "c2", User: user, Agent: "core", Tool: "run_command", Input: `{"command":"rm x"}`, Decision: "deny", Reasons: []string{"because"}, Status: "denied"},
		)
		if err == nil {
			err = log.RecordRun(t.Context(), audit.RunRecord{Run: "run-" + user, Agent: "core", Model: "demo", User: user, TotalTokens: 5})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	return auditor{log, auditLimits}
}

func TestQueryAudit(t *testing.T) {
	a := openAudit(t)
	alice, admin := policy.Principal{User: "alice", Role: policy.User}, policy.Principal{User: "root", Role: policy.Admin}
	tests := []struct {
		p         policy.Principal
		sql, want string
	}{
		{alice, "SELECT tool, status, duration_ms, output FROM tool_calls ORDER BY call", "tool | status | duration_ms | output\nrun_command | success | 250 | a¦b c\nrun_command | denied |  | \n(2 rows)\n"},
		{alice, "SELECT DISTINCT user FROM audit_events", "user\nalice\n(1 row)\n"},
		{alice, "SELECT user FROM audit_runs UNION SELECT user FROM denials", "user\nalice\n(1 row)\n"},
		{admin, "WITH u AS (SELECT DISTINCT user FROM audit_events) SELECT * FROM u ORDER BY 1", "user\nalice\nbob\n(2 rows)\n"},
		{policy.Principal{User: "carol", Role: policy.Readonly}, "SELECT count(*) AS n FROM audit_events", "n\n0\n(1 row)\n"},
	}
	for _, tt := range tests {
		got, err := a.query(t.Context(), agents.ToolContext{Principal: tt.p}, map[string]any{"sql": tt.sql})
		if err != nil || got.Text != tt.want {
			t.Errorf("%s as %s: got %q, %v; want %q", tt.sql, tt.p.User, got.Text, err, tt.want)
		}
	}
}

func TestQueryAuditRefuses(t *testing.T) {
	a := openAudit(t)
	other := filepath.Join(t.TempDir(), "other.db")
	for _, tt := range []struct {
		user string
		args map[string]any
	}{
		{"", map[string]any{"sql": "SELECT 1"}},
		{"alice", nil},
		{"alice", map[string]any{"sql": 1.0}},
		{"alice", map[string]any{"sql": "SELECT 1", "user": "bob"}},
		{"alice", map[string]any{"sql": "ATTACH '" + other + "' AS x"}},
		{"alice", map[string]any{"sql": "SELECT 1; ATTACH '" + other + "' AS x"}},
		{"alice", map[string]any{"sql": "VACUUM INTO '" + other + "'"}},
		{"alice", map[string]any{"sql": "DELETE FROM audit_events"}},
		{"alice", map[string]any{"sql": "WITH x AS (SELECT 1) DELETE FROM audit_events"}},
		{"alice", map[string]any{"sql": "PRAGMA query_only = 0"}},
		{"alice", map[string]any{"sql": "SELECT load_extension('x')"}},
		{"alice", map[string]any{"sql": "SELECT readfile('/etc/passwd')"}},
		{"alice", map[string]any{"sql": "SELECT zeroblob(1000000000)"}},
		{"alice", map[string]any{"sql": "SELECT * FROM nosuch"}},
	} {
		got, err := a.query(t.Context(), agents.ToolContext{Principal: policy.Principal{User: tt.user, Role: policy.User}}, tt.args)
		if err == nil {
			t.Errorf("%v as %q: got %q", tt.args, tt.user, got.Text)
		}
	}
}

func TestQueryAuditCaps(t *testing.T) {
	a := openAudit(t)
	alice := agents.ToolContext{Principal: policy.Principal{User: "alice", Role: policy.User}}
	many := "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 100000) SELECT i FROM n"
	got, err := a.query(t.Context(), alice, map[string]any{"sql": many})
	if err != nil || !got.Truncated || !strings.Contains(got.Text, "(200 rows)\n[cut: ") {
		t.Errorf("got %d bytes, truncated %v, %v", len(got.Text), got.Truncated, err)
	}
	got, err = a.query(t.Context(), alice, map[string]any{"sql": "SELECT printf('%.*c', 5000, 'ä') AS x"})
	if err != nil || len(got.Text) > 1100 || !strings.Contains(got.Text, "…\n(1 row)") {
		t.Errorf("got %.50q…, %v", got.Text, err)
	}
	a.limits.Copy = 500
	got, err = a.query(t.Context(), alice, map[string]any{"sql": "SELECT count(*) FROM audit_events"})
	if err != nil || !got.Truncated || !strings.Contains(got.Text, "(1 row)\n[cut: ") || !strings.Contains(got.Text, "the others are not in the result") {
		t.Errorf("of a log larger than its copy: got %q, truncated %v, %v", got.Text, got.Truncated, err)
	}
	a.limits.Time = 100 * time.Millisecond
	if _, err = a.query(t.Context(), alice, map[string]any{"sql": "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT count(*) FROM n"}); !errors.Is(err, audit.ErrLimit) {
		t.Errorf("endless query: got %v", err)
	}
}
