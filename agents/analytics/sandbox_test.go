package analytics_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svc-gateway/svc/agents/analytics"
	"github.com/svc-gateway/svc/agents/sandbox"
	"github.com/svc-gateway/svc/agents/sandbox/sandboxtest"
	"github.com/svc-gateway/svc/internal/duckwire"
)

// In every sandbox that this host allows, queries give what they give without one, and end as they do.
func TestQueriesInTheSandbox(t *testing.T) {
	helper := filepath.Join(t.TempDir(), "svc-sandbox")
	if err := sandboxtest.Build(helper, ""); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"full", "minimal"} {
		t.Run(mode, func(t *testing.T) {
			box, err := sandbox.OpenMode(t.Context(), sandbox.Config{Helper: helper, Timeout: time.Second, Limits: sandbox.Limits{Output: 1 << 10, Memory: 128 << 20}}, mode)
			sandboxtest.Check(t, mode, err)
			defer box.Close()
			c := config(t)
			c.Run, c.Time = analytics.RunIn(box), 3*time.Second
			db := open(t, c)
			load(t, db, analytics.File{Name: "t.csv", Table: "t", Format: duckwire.FormatCSV}, "n\n1\n2\n")
			for _, tc := range []struct{ name, sql, want, err string }{
				{"rows", "SELECT n, chr(155) AS c FROM t ORDER BY n", `[[1,"\u009b"],[2,"\u009b"]]`, ""},
				{"many", "SELECT repeat('x', 60000) AS x", "", ""},
				{"a mistake", "SELECT nope FROM t", "", "line 1, column 8: "},
				{"a file", "SELECT * FROM read_text('/etc/passwd')", "", "disabled"},
				{"a write", "INSERT INTO t VALUES (3)", "", "read-only"},
				{"no end", "SELECT count(*) FROM range(1000000000000) a, range(1000000) b", "", "took longer than 3s"},
				{"memory", "SELECT list(repeat('x', 1000) || i) FROM range(100000000) r(i)", "", "memory"},
			} {
				t.Run(tc.name, func(t *testing.T) {
					a, err := ask(db, tc.sql)
					if tc.err == "" && err != nil || tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) {
						t.Errorf("got %v, want %q", err, tc.err)
					}
					if got := rows(a); tc.want != "" && got != tc.want {
						t.Errorf("got %s, want %s", got, tc.want)
					}
				})
			}
		})
	}
}
