package sqlread

import (
	"testing"

	"github.com/svc-gateway/svc/scanner/sqltoken"
)

func tokens(text string) (list []sqltoken.Token) {
	for t, ok := sqltoken.Any.Next(text, 0); ok; t, ok = sqltoken.Any.Next(text, t.End) {
		list = append(list, t)
	}
	return list
}

func TestDoubt(t *testing.T) {
	for _, tt := range []struct {
		query   string
		doubted bool
	}{
		{"SELECT count(*), max(a) FROM t WHERE b IN (1, 2)", false},
		{"WITH w(a, b) AS (SELECT 1, 2) SELECT a FROM w", false},
		{"SELECT pg_catalog.pg_database_size('x')", false},
		{"SELECT a::int, row_number() OVER (PARTITION BY b ORDER BY c) FROM t", false},
		{"SELECT evil()", true},
		{"SELECT s.count(1)", true},
		{"SELECT \"count\"(1)", true},
		{"SELECT 1 FROM t FOR UPDATE", true},
		{"SELECT @a := 1", true},
		{"SELECT * FROM 'https://x.example/a.csv'", true},
		{"SELECT * FROM dblink('x', 'y') AS t(a)", true},
	} {
		if reason := Doubt(tokens(tt.query)); (reason != "") != tt.doubted {
			t.Errorf("%s: got %q, want a doubt: %v", tt.query, reason, tt.doubted)
		}
	}
}

func TestPragma(t *testing.T) {
	for line, want := range map[string]bool{
		"PRAGMA user_version": true, "PRAGMA table_info(t)": true, "PRAGMA main.page_count": true,
		"PRAGMA wal_checkpoint": false, "PRAGMA writable_schema(1)": false, "PRAGMA optimize": false,
	} {
		if got := Pragma(tokens(line)); got != want {
			t.Errorf("%s: got %v", line, got)
		}
	}
}

func TestTransaction(t *testing.T) {
	for line, want := range map[string]bool{
		"BEGIN": true, "START TRANSACTION READ ONLY": true, "COMMIT": true, "ROLLBACK TO SAVEPOINT a": true,
		"COMMIT PREPARED 'x'": false, "START GROUP_REPLICATION": false, "ROLLBACK PREPARED 'x'": false,
	} {
		if got := Transaction(tokens(line)); got != want {
			t.Errorf("%s: got %v", line, got)
		}
	}
}
