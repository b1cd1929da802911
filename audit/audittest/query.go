package audittest

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-gateway/svc/audit"
)

// calls are the events of two tool calls of ann, one of bob, and refused requests.
func calls() audit.Batch {
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	return audit.Batch{
		Events: []audit.Event{
			{Time: at(0), Node: "n", Type: audit.ToolStart, Run: "r1", Call: "a1", User: "ann", Tool: "df", Decision: "allow", Hash: "h"},
			{Time: at(1), Node: "n", Type: audit.ToolEnd, Run: "r1", Call: "a1", User: "ann", Tool: "df", Output: "42%", Duration: 0.25, Hash: "h"},
			{Time: at(2), Node: "n", Type: audit.ToolDenied, Run: "r1", Call: "a2", User: "ann", Tool: "rm", Decision: "deny", Reasons: []string{"because"}, Hash: "h"},
			{Time: at(3), Node: "n", Type: audit.ToolStart, Run: "r2", Call: "b1", User: "bob", Tool: "df", Decision: "allow", Hash: "h"},
			{Time: at(4), Node: "n", Type: audit.Request, Method: "GET", Path: "/", Code: 401, Hash: "h"},
			{Time: at(5), Node: "n", Type: audit.Request, User: "bob", Method: "GET", Path: "/", Code: 200, Hash: "h"},
		},
		Runs: []audit.RunRecord{
			{Time: at(6), Node: "n", Run: "r1", User: "ann", TotalTokens: 7, Hash: "h"},
			{Time: at(7), Node: "n", Run: "r2", User: "bob", TotalTokens: 8, Estimated: true, Hash: "h"},
		},
	}
}

// queries are in SQL that every storage knows.
func queries(t *testing.T, s audit.Store) {
	record(t, s, calls())
	log := audit.New(s, "n")
	everything := audit.Filter{}
	for name, c := range map[string]struct {
		f     audit.Filter
		query string
		want  [][]any
	}{
		"calls": {everything, `SELECT call, status, duration_ms, output FROM tool_calls ORDER BY call`, [][]any{
			{"a1", "success", 250.0, "42%"}, {"a2", "denied", nil, nil}, {"b1", "started", nil, nil},
		}},
		"denials": {everything, `SELECT type, "user", code, reasons FROM denials ORDER BY seq`, [][]any{
			{audit.ToolDenied, "ann", nil, `["because"]`}, {audit.Request, nil, int64(401), nil},
		}},
		"runs":             {everything, `SELECT run, total_tokens, estimated FROM audit_runs ORDER BY run`, [][]any{{"r1", int64(7), int64(0)}, {"r2", int64(8), int64(1)}}},
		"times":            {everything, `SELECT time FROM audit_events ORDER BY seq LIMIT 1`, [][]any{{"2027-01-31T23:59:59.999Z"}}},
		"no rows":          {everything, `SELECT call FROM tool_calls WHERE tool = 'nosuch'`, nil},
		"of a user":        {audit.Filter{User: "ann"}, `SELECT DISTINCT "user" FROM audit_events`, [][]any{{"ann"}}},
		"calls of a user":  {audit.Filter{User: "bob"}, `SELECT call FROM tool_calls`, [][]any{{"b1"}}},
		"runs of a user":   {audit.Filter{User: "ann"}, `SELECT run FROM audit_runs`, [][]any{{"r1"}}},
		"of nobody":        {audit.Filter{User: "carol"}, `SELECT count(*) FROM audit_events`, [][]any{{int64(0)}}},
		"the newest":       {audit.Filter{Newest: true, Limit: 2}, `SELECT type, code FROM audit_events ORDER BY seq`, [][]any{{audit.Request, int64(401)}, {audit.Request, int64(200)}}},
		"a later one":      {audit.Filter{Since: start.Add(4 * time.Second)}, `SELECT count(*) FROM audit_events`, [][]any{{int64(2)}}},
		"with a semicolon": {everything, `SELECT ';' AS x; -- the end`, [][]any{{";"}}},
	} {
		_, got, err := log.Query(t.Context(), c.f, c.query, audit.Limits{})
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
	columns, _, err := log.Query(t.Context(), everything, `SELECT call, 1 AS n FROM tool_calls`, audit.Limits{})
	if diff := cmp.Diff([]string{"call", "n"}, columns); err != nil || diff != "" {
		t.Errorf("columns: %v (-want +got):\n%s", err, diff)
	}
}

// fenced tries to change the log, with and without a filter.
func fenced(t *testing.T, s audit.Store) {
	record(t, s, calls())
	log := audit.New(s, "n")
	for _, f := range []audit.Filter{{}, {User: "ann"}} {
		for _, query := range []string{
			``, `;`, `-- nothing`, `nonsense`, `SELECT unheard_of FROM audit_events`, `SELECT 1 FROM no_such_table`,
			`DELETE FROM audit_events`, `UPDATE audit_events SET type = 'x'`, `DROP VIEW denials`, `CREATE TABLE x (y INTEGER)`,
			`WITH x AS (SELECT 1) DELETE FROM audit_events`, `SELECT 1; DELETE FROM audit_events`, `BEGIN`, `COMMIT; DELETE FROM audit_events`,
		} {
			if _, rows, err := log.Query(t.Context(), f, query, audit.Limits{}); err == nil {
				t.Errorf("%q of %+v: got %v, want an error", query, f, rows)
			}
		}
		if _, rows, err := log.Query(t.Context(), f, `SELECT "user" FROM audit_events`, audit.Limits{Rows: 1}); !errors.Is(err, audit.ErrLimit) || len(rows) != 1 {
			t.Errorf("too many rows: got %v, %v; want one and ErrLimit", rows, err)
		}
		if _, rows, err := log.Query(t.Context(), f, `SELECT 'aaaaaaaaaa' FROM audit_events`, audit.Limits{Bytes: 25}); !errors.Is(err, audit.ErrLimit) || len(rows) != 2 {
			t.Errorf("too many bytes: got %v, %v; want two rows and ErrLimit", rows, err)
		}
		endless := `WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM c) SELECT max(n) FROM c`
		if _, _, err := log.Query(t.Context(), f, endless, audit.Limits{Time: 300 * time.Millisecond}); !errors.Is(err, audit.ErrLimit) {
			t.Errorf("an endless query: got %v, want ErrLimit", err)
		}
	}
	want := calls()
	if got := read(t, s, audit.Filter{}); len(got) != len(want.Events) {
		t.Errorf("got %d events after the queries, want %d", len(got), len(want.Events))
	}
}
